// Instructions of inline PTX that do more to memory than load or store: atomic operations and bulk
// copies.

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/executor/ptx/atomic_opcode.h"
#include "common/executor/worker.h"

namespace stridewise::executor {

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

}  // namespace stridewise::executor
