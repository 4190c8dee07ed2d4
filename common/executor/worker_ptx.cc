// The worker's implementation of inline PTX: asm statements, instruction by instruction. Accesses
// to memory are checked and counted as all others are.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/executor/ptx_arithmetic.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
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
      if (opcode.completes) {
        CompleteBytes(lane, address(2, opcode.space), static_cast<int64_t>(bytes) * opcode.count,
                      pc);
      }
      return;
    }
    case PtxKind::kAtomic:
      ExecuteAtomic(instruction, lane, registers, arguments, pc);
      if (opcode.completes) {
        CompleteBytes(lane, address(2, opcode.space), opcode.type.bits / 8, pc);
      }
      return;
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

}  // namespace stridewise::executor
