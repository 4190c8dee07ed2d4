// Instructions of inline PTX that a whole warp executes: of matrices, and elect.
//
// Accesses of ldmatrix and stmatrix are 16 bytes each of the lanes that give the addresses of rows:
// that makes the number of wavefronts a GPU's.

#include <cstddef>
#include <cstdint>

#include "common/executor/warp_matrices.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

// The most values of an instruction that a warp executes together: mma's.
constexpr int kMaxWarpValues = 16;

}  // namespace

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

}  // namespace stridewise::executor
