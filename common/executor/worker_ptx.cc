// The worker's implementation of inline PTX: asm statements, instruction by instruction.
//
// Accesses to memory are checked and counted as all others are. Those of ldmatrix and stmatrix are
// 16 bytes each of the lanes that give the addresses of rows: so many wavefronts does a GPU need.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/executor/ptx/atomic_opcode.h"
#include "common/executor/ptx/tensor_core.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

// The most values of an instruction that a warp executes together: mma's.
constexpr int kMaxWarpValues = 16;
constexpr int kMatrixRows = 8;
constexpr int kMatrixRowBytes = 16;

uint64_t Truncate(uint64_t bits, const PtxType& type) {
  if (type.bits >= 64) return bits;
  const uint64_t mask = (uint64_t{1} << type.bits) - 1;
  if (type.letter == 's' && (bits >> (type.bits - 1) & 1) != 0) return bits | ~mask;
  return bits & mask;
}

uint64_t Compute(char operation, uint64_t a, uint64_t b, uint64_t c, const PtxType& type) {
  const auto bits = static_cast<uint64_t>(type.bits);
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case 'm':
      return a * b + c;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case 'l':
      return b >= bits ? 0 : a << b;
    default:  // 'r'
      if (type.letter == 's') return static_cast<int64_t>(a) >> std::min(b, bits - 1);
      return b >= bits ? 0 : a >> b;
  }
}

template <typename T>
bool Compare(char comparison, T a, T b) {
  switch (comparison) {
    case '=':
      return a == b;
    case '!':
      return a != b;
    case '<':
      return a < b;
    case '{':
      return a <= b;
    case '>':
      return a > b;
    default:  // '}'
      return a >= b;
  }
}

bool CompareAs(const PtxOpcode& opcode, uint64_t a, uint64_t b) {
  a = Truncate(a, opcode.type);
  b = Truncate(b, opcode.type);
  if (opcode.type.letter == 's') {
    return Compare(opcode.operation, static_cast<int64_t>(a), static_cast<int64_t>(b));
  }
  if (opcode.type.letter == 'f') {
    const auto value = [](uint64_t bits) {
      const auto low = static_cast<uint32_t>(bits);
      float number;
      std::memcpy(&number, &low, sizeof(number));
      return number;
    };
    return Compare(opcode.operation, value(a), value(b));
  }
  return Compare(opcode.operation, a, b);
}

// To the nearest, ties away from zero.
uint32_t RoundToTf32(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0x1000) & ~0x1fffu;
}

}  // namespace

uint64_t Worker::ReadPtxValue(const PtxValue& value, const uint64_t* registers,
                              const uint64_t* arguments, const Lane& lane) const {
  switch (value.kind) {
    case PtxValue::Kind::kArgument:
      return arguments[value.bits];
    case PtxValue::Kind::kRegister:
      return registers[value.bits];
    case PtxValue::Kind::kSpecial:
      if (static_cast<PtxSpecial>(value.bits) == PtxSpecial::kLaneId) {
        return static_cast<uint64_t>(lane.index % block_lanes_ % kWarpLanes);
      }
      return ClusterSpecial(lane, static_cast<PtxSpecial>(value.bits));
    default:
      return value.bits;
  }
}

void Worker::WritePtxValue(const PtxValue& value, uint64_t bits, uint64_t* registers,
                           uint64_t* arguments) {
  if (value.kind == PtxValue::Kind::kArgument) arguments[value.bits] = bits;
  if (value.kind == PtxValue::Kind::kRegister) registers[value.bits] = bits;
}

const PtxProgram& Worker::ProgramOf(const char* text) {
  const auto found = programs_.find(text);
  return found != programs_.end() ? found->second
                                  : programs_.emplace(text, ParsePtx(text)).first->second;
}

uintptr_t Worker::PtxAddress(const Lane& lane, PtxSpace space, uint64_t address) const {
  return space == PtxSpace::kShared ? shared_ + SharedOffset(lane, address) : address;
}

void Worker::Ptx(Lane& lane, const char* text, uint64_t* arguments, int count, uintptr_t pc) {
  const PtxProgram& program = ProgramOf(text);
  if (!program.unknown.empty() || program.arguments > count) {
    if (!context_->exact) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kUnsupported, lane, false, pc,
                absl::StrCat("the host executor does not know ", program.unknown));
  }
  uint64_t registers[kMaxPtxRegisters];
  for (size_t next = 0; next < program.instructions.size();) {
    const PtxInstruction& instruction = program.instructions[next++];
    if (instruction.guard >= 0 &&
        (registers[instruction.guard] != 0) == instruction.guard_negated) {
      continue;
    }
    switch (instruction.opcode.kind) {
      case PtxKind::kBranch:
        next = static_cast<size_t>(instruction.target);
        BasicBlock(lane, pc);
        break;
      case PtxKind::kLoadMatrices:
      case PtxKind::kStoreMatrices:
      case PtxKind::kTransposeMatrix:
      case PtxKind::kMultiply:
      case PtxKind::kElect:
        ExecuteWithWarp(instruction, lane, registers, arguments, pc);
        break;
      case PtxKind::kWgmma:
        ExecuteWithWarpgroup(instruction, lane, registers, arguments, pc);
        break;
      default:
        ExecuteScalar(instruction, lane, registers, arguments, pc);
    }
  }
}

void Worker::ExecuteScalar(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                           uint64_t* arguments, uintptr_t pc) {
  const PtxOpcode& opcode = instruction.opcode;
  const auto read = [&](size_t operand, size_t element = 0) {
    return ReadPtxValue(instruction.operands[operand].values[element], registers, arguments, lane);
  };
  const auto write = [&](uint64_t bits, size_t element = 0) {
    WritePtxValue(instruction.operands[0].values[element], bits, registers, arguments);
  };
  const auto address = [&](size_t operand, PtxSpace space) {
    return PtxAddress(lane, space,
                      read(operand) + static_cast<uint64_t>(instruction.operands[operand].offset));
  };
  switch (opcode.kind) {
    case PtxKind::kMove:
      return write(Truncate(read(1), opcode.type));
    case PtxKind::kSetPredicate:
      return write(CompareAs(opcode, read(1), read(2)) ? 1 : 0);
    case PtxKind::kSelect:
      return write(Truncate(read(3) != 0 ? read(1) : read(2), opcode.type));
    case PtxKind::kArithmetic: {
      const uint64_t third = opcode.operation == 'm' ? read(3) : 0;
      const uint64_t second = opcode.operation == 'l' || opcode.operation == 'r'
                                  ? read(2) & 0xffffffff
                                  : Truncate(read(2), opcode.type);
      return write(Truncate(
          Compute(opcode.operation, Truncate(read(1), opcode.type), second, third, opcode.type),
          opcode.type));
    }
    case PtxKind::kRoundToTf32:
      return write(RoundToTf32(static_cast<uint32_t>(read(1))));
    case PtxKind::kLoad:
    case PtxKind::kStore: {
      const bool loads = opcode.kind == PtxKind::kLoad;
      const uintptr_t at = address(loads ? 1 : 0, opcode.space);
      const size_t bytes = static_cast<size_t>(opcode.type.bits) / 8;
      Access(lane, at, __builtin_ctzll(bytes * opcode.count),
             loads ? AccessOp::kLoad : AccessOp::kStore, pc);
      for (int i = 0; i < opcode.count; ++i) {
        auto* const element = reinterpret_cast<uint8_t*>(at) + i * bytes;
        uint64_t value = loads ? 0 : read(1, i);
        if (loads) {
          std::memcpy(&value, element, bytes);
          write(Truncate(value, opcode.type), i);
        } else {
          std::memcpy(element, &value, bytes);
        }
      }
      return;
    }
    case PtxKind::kAtomic:
      return ExecuteAtomic(instruction, lane, registers, arguments, pc);
    case PtxKind::kCachePolicy:
      return write(0);
    case PtxKind::kCopyAsync: {
      const size_t bytes = read(2);
      const size_t read_bytes = instruction.operands.size() > 3 ? read(3) & 0xffffffff : bytes;
      return CpAsync(lane, reinterpret_cast<void*>(address(0, PtxSpace::kShared)),
                     reinterpret_cast<const void*>(address(1, PtxSpace::kGlobal)), bytes,
                     bytes - std::min(bytes, read_bytes), pc);
    }
    case PtxKind::kCommitCopies:
      ++lane.async_group;
      return;
    case PtxKind::kWaitForCopies:
      return CpAsyncWait(lane, static_cast<unsigned>(read(0)));
    case PtxKind::kWaitForAllCopies:
      ++lane.async_group;
      return CpAsyncWait(lane, 0);
    case PtxKind::kSharedOfCluster:
      return write(MapToBlock(lane, opcode, read(1), read(2) & 0xffffffff, pc));
    case PtxKind::kRankOfAddress:
      return write((PtxAddress(lane, opcode.space, read(1)) - shared_) / kSharedArenaBytes);
    case PtxKind::kBarrier: {
      const uint64_t id = read(0) & 0xffffffff;
      const uint64_t all = context_->block_threads;
      const uint64_t count = instruction.operands.size() > 1 ? read(1) & 0xffffffff : all;
      const bool waits = opcode.barrier == MbarrierOp::kWait;
      if (id == 0 && count == all && waits) return Barrier(lane, pc);
      return NamedBarrier(lane, id, count, waits, pc);
    }
    case PtxKind::kClusterBarrier:
      return ClusterBarrier(lane, opcode, pc);
    case PtxKind::kMbarrier: {
      if (opcode.barrier == MbarrierOp::kPendingCount) return write(Mbarrier::PendingOf(read(1)));
      const size_t at = instruction.operands[0].is_address ? 0 : 1;
      const bool has_value = instruction.operands.size() > at + 1;
      uint64_t value = has_value ? read(at + 1) : 1;
      // A state is 64 bits wide; counts, bytes and parities are 32.
      if (opcode.barrier != MbarrierOp::kWait || opcode.by_parity) value &= 0xffffffff;
      const uint64_t result = ExecuteMbarrier(opcode, lane, address(at, opcode.space), value, pc);
      if (at == 1) write(result);
      return;
    }
    case PtxKind::kArriveAfterCopies:
      return ArriveAfterCopies(lane, address(0, opcode.space), opcode.counts, pc);
    case PtxKind::kBulkLoad:
    case PtxKind::kBulkStore:
      return ExecuteBulkCopy(instruction, lane, registers, arguments, pc);
    case PtxKind::kCommitBulkCopies:
      ++lane.bulk_groups;
      return;
    case PtxKind::kWaitForBulkCopies:
      return WaitForBulkStores(lane, read(0));
    case PtxKind::kProxyFence:
      return ProxyFence(lane);
    case PtxKind::kMbarrierInitFence:
      lane.mbarrier_init_fenced = true;
      lane.init_fence_clock = ++lane.now.clock;
      return;
    case PtxKind::kRegisters:
      return SetMaxRegisters(lane, opcode.operation == '+', read(0), pc);
    case PtxKind::kWgmmaFence:
      lane.wgmma_fenced = true;
      lane.accumulators.Fence();
      return;
    case PtxKind::kWgmmaCommit:
      return CommitWgmma(lane);
    case PtxKind::kWgmmaWait:
      return WaitForWgmma(lane, read(0));
    default:
      return;
  }
}

// Blocks may run on several cores at once, so the operation is really atomic.
void Worker::ExecuteAtomic(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                           uint64_t* arguments, uintptr_t pc) {
  const PtxOpcode& opcode = instruction.opcode;
  const size_t at = opcode.has_result ? 1 : 0;
  const auto read = [&](size_t operand) {
    return ReadPtxValue(instruction.operands[operand].values[0], registers, arguments, lane);
  };
  const uintptr_t address = PtxAddress(
      lane, opcode.space, read(at) + static_cast<uint64_t>(instruction.operands[at].offset));
  const uint64_t value = read(at + 1);
  const uint64_t swap = opcode.operation == 'c' ? read(at + 2) : 0;
  const auto update = [&](auto* word) -> uint64_t {
    Access(lane, address, __builtin_ctzll(sizeof(*word)), AccessOp::kAtomic, pc);
    auto old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    using Word = decltype(old);
    while (!__atomic_compare_exchange_n(word, &old,
                                        static_cast<Word>(AtomicResult(opcode, old, value, swap)),
                                        /*weak=*/false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return old;
  };
  const uint64_t old = opcode.type.bits == 64 ? update(reinterpret_cast<uint64_t*>(address))
                                              : update(reinterpret_cast<uint32_t*>(address));
  if (opcode.has_result) {
    WritePtxValue(instruction.operands[0].values[0], old, registers, arguments);
  }
}

// Loads name the place in shared memory first, stores the one in global memory. A tensor's is its
// map and coordinates.
void Worker::ExecuteBulkCopy(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                             uint64_t* arguments, uintptr_t pc) {
  const PtxOpcode& opcode = instruction.opcode;
  const bool loads = opcode.kind == PtxKind::kBulkLoad;
  const auto read = [&](size_t operand, size_t element = 0) {
    const PtxOperand& from = instruction.operands[operand];
    return ReadPtxValue(from.values[element], registers, arguments, lane) +
           (element == 0 ? static_cast<uint64_t>(from.offset) : 0);
  };
  const uint32_t shared = SharedOffset(lane, read(loads ? 0 : 1));
  if (shared >= shared_size_) WildAddress(lane, shared_ + shared, 4, AccessOp::kStore, pc);
  const uint64_t global = read(loads ? 1 : 0);
  std::vector<BulkPiece> pieces;
  if (opcode.dimensions > 0) {
    int64_t first[kSimtMaxTensorRank] = {};
    for (int i = 0; i < opcode.dimensions; ++i) {
      first[i] = static_cast<int32_t>(read(loads ? 1 : 0, static_cast<size_t>(i) + 1));
    }
    SimtTensorMap map;
    std::memcpy(&map, reinterpret_cast<const void*>(global), sizeof(map));
    if (map.magic == SIMT_TENSOR_MAP_MAGIC && map.rank != opcode.dimensions) {
      WrongBulkCopy(lane, pc,
                    absl::StrCat("a copy of ", opcode.dimensions, " dimensions by a map of ",
                                 static_cast<int>(map.rank)));
    }
    pieces = PiecesOfBox(lane, map, first, shared, pc);
  } else {
    pieces = PiecesOfRange(lane, global, shared, static_cast<uint32_t>(read(2)), pc);
  }
  if (!loads) return BulkStore(lane, pieces, pc);
  const size_t barrier = opcode.dimensions > 0 ? 2 : 3;
  const auto blocks = opcode.multicast ? static_cast<uint32_t>(read(barrier + 1)) & 0xffff : 0;
  if (opcode.multicast && (blocks == 0 || blocks >> context_->cluster_blocks != 0)) {
    if (!exact_) Suspect(lane, Stop::kExactly);
    ReportFatal(Check::kCluster, lane, true, pc,
                absl::StrFormat("a copy to the blocks %#x of a cluster of %d", blocks,
                                context_->cluster_blocks));
  }
  StartBulkLoad(lane, std::move(pieces), PtxAddress(lane, PtxSpace::kShared, read(barrier)), blocks,
                pc);
}

// The lane waits until all lanes of its warp have come to the instruction.
void Worker::ExecuteWithWarp(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                             uint64_t* arguments, uintptr_t pc) {
  uint64_t values[kMaxWarpValues];
  int count = 0;
  for (const PtxOperand& operand : instruction.operands) {
    for (const PtxValue& value : operand.values) {
      values[count] = ReadPtxValue(value, registers, arguments, lane);
      if (operand.is_address) {
        values[count] = PtxAddress(lane, PtxSpace::kShared,
                                   values[count] + static_cast<uint64_t>(operand.offset));
        if (lane.index % kWarpLanes < instruction.opcode.count * kMatrixRows) {
          Access(lane, values[count], __builtin_ctz(kMatrixRowBytes),
                 instruction.opcode.kind == PtxKind::kLoadMatrices ? AccessOp::kLoad
                                                                   : AccessOp::kStore,
                 pc);
        }
      }
      ++count;
    }
  }
  lane.instruction = &instruction;
  lane.operands = values;
  const bool elects = instruction.opcode.kind == PtxKind::kElect;
  const auto mask = elects ? static_cast<uint32_t>(values[2]) : ~0u;
  WarpSync(lane, mask, pc);
  if (elects) {
    // The lowest lane, which PTX leaves open.
    values[0] = static_cast<uint64_t>(__builtin_ctz(lane.wait_mask | 1u << 31));
    values[1] = values[0] == static_cast<uint64_t>(lane.index % kWarpLanes) ? 1 : 0;
  }
  lane.instruction = nullptr;
  lane.operands = nullptr;
  if (instruction.opcode.kind == PtxKind::kStoreMatrices) return;
  const PtxOperand& results = instruction.operands[0];
  for (size_t i = 0; i < results.values.size(); ++i) {
    WritePtxValue(results.values[i], values[i], registers, arguments);
  }
}

void Worker::ExecuteOfWarp(Warp* warp, const PtxInstruction& instruction) {
  const PtxOpcode& opcode = instruction.opcode;
  if (opcode.kind == PtxKind::kLoadMatrices) LoadMatrices(warp, opcode);
  if (opcode.kind == PtxKind::kStoreMatrices) StoreMatrices(warp, opcode);
  if (opcode.kind == PtxKind::kTransposeMatrix) TransposeMatrix(warp);
  if (opcode.kind == PtxKind::kMultiply) Multiply(warp, opcode);
}

// Lanes that a last, smaller warp does not have hold zeros.
uint32_t Worker::PtxWord(Warp* warp, int lane, int operand) const {
  if (lane >= warp->lanes) return 0;
  return static_cast<uint32_t>(lanes_[warp->first + lane].operands[operand]);
}

void Worker::SetPtxWord(Warp* warp, int lane, int operand, uint32_t word) {
  if (lane < warp->lanes) lanes_[warp->first + lane].operands[operand] = word;
}

// Returns the row of 8 elements whose address lane `row` gives; null where there is no such lane.
uint8_t* Worker::MatrixRow(Warp* warp, int row, int address) const {
  if (row >= warp->lanes) return nullptr;
  return reinterpret_cast<uint8_t*>(lanes_[warp->first + row].operands[address]);
}

// Of an 8x8 matrix of 16-bit elements lane l holds elements (l / 4, l % 4 * 2) and the next one.
void Worker::LoadMatrices(Warp* warp, const PtxOpcode& opcode) {
  for (int i = 0; i < opcode.count; ++i) {
    uint16_t matrix[kMatrixRows][kMatrixRows] = {};
    for (int row = 0; row < kMatrixRows; ++row) {
      const uint8_t* const from = MatrixRow(warp, i * kMatrixRows + row, opcode.count);
      if (from != nullptr) std::memcpy(matrix[row], from, kMatrixRowBytes);
    }
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int row = lane / 4;
      const int col = lane % 4 * 2;
      const uint32_t low = opcode.transposed ? matrix[col][row] : matrix[row][col];
      const uint32_t high = opcode.transposed ? matrix[col + 1][row] : matrix[row][col + 1];
      SetPtxWord(warp, lane, i, low | high << 16);
    }
  }
}

void Worker::StoreMatrices(Warp* warp, const PtxOpcode& opcode) {
  for (int i = 0; i < opcode.count; ++i) {
    uint16_t matrix[kMatrixRows][kMatrixRows];
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int row = lane / 4;
      const int col = lane % 4 * 2;
      const uint32_t word = PtxWord(warp, lane, 1 + i);
      (opcode.transposed ? matrix[col][row] : matrix[row][col]) = static_cast<uint16_t>(word);
      (opcode.transposed ? matrix[col + 1][row] : matrix[row][col + 1]) =
          static_cast<uint16_t>(word >> 16);
    }
    for (int row = 0; row < kMatrixRows; ++row) {
      uint8_t* const to = MatrixRow(warp, i * kMatrixRows + row, 0);
      if (to != nullptr) std::memcpy(to, matrix[row], kMatrixRowBytes);
    }
  }
}

void Worker::TransposeMatrix(Warp* warp) {
  uint16_t matrix[kMatrixRows][kMatrixRows];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t word = PtxWord(warp, lane, 1);
    matrix[lane / 4][lane % 4 * 2] = static_cast<uint16_t>(word);
    matrix[lane / 4][lane % 4 * 2 + 1] = static_cast<uint16_t>(word >> 16);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t high = matrix[lane % 4 * 2 + 1][lane / 4];
    SetPtxWord(warp, lane, 0, matrix[lane % 4 * 2][lane / 4] | high << 16);
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16" and its kin. With g = lane / 4 and t = lane % 4,
// registers of A hold 32 bits of k of rows g and g + 8, at t and, in the second half of them, half
// the k extent further; those of B the same of column g; those of D columns 2t and 2t + 1 of rows g
// and g + 8.
void Worker::Multiply(Warp* warp, const PtxOpcode& opcode) {
  constexpr int kMaxDepth = 32;
  const TensorForm& form = opcode.form;
  const int bits = TensorTypeBits(form.a);
  const int each = 32 / bits;  // Elements of a register.
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  const int of_a = form.m * form.k * bits / 1024;
  const int of_b = form.n * form.k * bits / 1024;
  const bool half_sums = form.sums == TensorType::kF16;
  const int of_d = half_sums ? 2 : 4;
  uint32_t a[16 * kMaxDepth], b[8 * kMaxDepth], d[16 * 8];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int g = lane / 4;
    const int t = lane % 4;
    for (int i = 0; i < of_a; ++i) {
      const uint32_t word = PtxWord(warp, lane, of_d + i);
      uint32_t* const to = a + (g + i % 2 * 8) * form.k + t * each + i / 2 * 4 * each;
      for (int j = 0; j < each; ++j) to[j] = word >> (j * bits) & mask;
    }
    for (int i = 0; i < of_b; ++i) {
      const uint32_t word = PtxWord(warp, lane, of_d + of_a + i);
      uint32_t* const to = b + g * form.k + t * each + i * 4 * each;
      for (int j = 0; j < each; ++j) to[j] = word >> (j * bits) & mask;
    }
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = PtxWord(warp, lane, of_d + of_a + of_b + (half_sums ? i / 2 : i));
      d[(g + i / 2 * 8) * form.n + t * 2 + i % 2] =
          half_sums ? word >> (i % 2 * 16) & 0xffff : word;
    }
  }
  MultiplyTensors(form, a, b, d, d);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t* const from = d + lane / 4 * form.n + lane % 4 * 2;
    for (int i = 0; i < of_d; ++i) {
      const uint32_t* const row = from + (half_sums ? i : i / 2) * 8 * form.n;
      SetPtxWord(warp, lane, i, half_sums ? row[0] | row[1] << 16 : row[i % 2]);
    }
  }
}

}  // namespace stridewise::executor
