#include "common/executor/ptx/operand_rules.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "common/executor/ptx/wgmma.h"

namespace stridewise::executor {
namespace {

// Returns whether the operands have these numbers of values; 0 is an address.
bool HasValues(const PtxInstruction& instruction, std::initializer_list<int> values) {
  if (instruction.operands.size() != values.size()) return false;
  size_t i = 0;
  for (const int count : values) {
    const PtxOperand& operand = instruction.operands[i++];
    if (operand.is_address != (count == 0)) return false;
    if (static_cast<int>(operand.values.size()) != std::max(count, 1)) return false;
  }
  return true;
}

bool MbarrierHasItsOperands(const PtxInstruction& instruction) {
  switch (instruction.opcode.barrier) {
    case MbarrierOp::kInit:
    case MbarrierOp::kExpectBytes:
    case MbarrierOp::kCompleteBytes:
      return HasValues(instruction, {0, 1});
    case MbarrierOp::kInvalidate:
      return HasValues(instruction, {0});
    case MbarrierOp::kArrive:
      return HasValues(instruction, {1, 0, 1}) ||
             (!instruction.opcode.expects_bytes && HasValues(instruction, {1, 0}));
    case MbarrierOp::kWait:
      return HasValues(instruction, {1, 0, 1}) || HasValues(instruction, {1, 0, 1, 1});
    case MbarrierOp::kPendingCount:
      return HasValues(instruction, {1, 1});
  }
  return false;
}

// D, A, B, scale-d; but for integers two factors of 1 or -1; and of 16-bit operands in shared
// memory whether each is turned.
bool WgmmaHasItsOperands(const PtxInstruction& instruction) {
  const TensorForm& form = instruction.opcode.form;
  const auto& operands = instruction.operands;
  if (operands.size() < 4) return false;
  const bool a_in_registers = operands[1].values.size() == kWgmmaWordsOfA;
  const size_t factors = form.sums == TensorType::kS32 ? 0 : 2;
  const size_t turns = TensorTypeBits(form.a) != 16 ? 0 : a_in_registers ? 1 : 2;
  if (operands.size() != 4 + factors + turns ||
      operands[0].values.size() != static_cast<size_t>(WgmmaWordsOfD(form))) {
    return false;
  }
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].is_address) return false;
    if (operands[i].values.size() != 1 && !(i == 1 && a_in_registers)) return false;
  }
  return true;
}

// The address in global memory is a map with coordinates, of a plain copy the bytes follow both
// addresses, and a load has a barrier and perhaps the blocks that it goes to.
bool BulkCopyHasItsOperands(const PtxInstruction& instruction) {
  const PtxOpcode& opcode = instruction.opcode;
  const bool loads = opcode.kind == PtxKind::kBulkLoad;
  const size_t global = loads ? 1 : 0;
  const size_t barrier = !loads ? 0 : opcode.dimensions > 0 ? 2 : 3;
  const size_t needed =
      2 + (opcode.dimensions > 0 ? 0 : 1) + (loads ? 1 : 0) + (opcode.multicast ? 1 : 0);
  const auto& operands = instruction.operands;
  if (operands.size() != needed) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t values = i == global ? 1 + static_cast<size_t>(opcode.dimensions) : 1;
    const bool is_address = i < 2 || (loads && i == barrier);
    if (operands[i].is_address != is_address || operands[i].values.size() != values) return false;
  }
  return true;
}

}  // namespace

bool HasItsOperands(const PtxInstruction& instruction) {
  const PtxOpcode& opcode = instruction.opcode;
  const int count = opcode.count;
  switch (opcode.kind) {
    case PtxKind::kMove:
    case PtxKind::kRoundToTf32:
    case PtxKind::kTransposeMatrix:
    case PtxKind::kRankOfAddress:
      return HasValues(instruction, {1, 1});
    case PtxKind::kCachePolicy:
      return HasValues(instruction, {1});
    case PtxKind::kAtomic:
      if (opcode.completes) return HasValues(instruction, {0, 1, 0});
      if (!opcode.has_result) return HasValues(instruction, {0, 1});
      return opcode.operation == 'c' ? HasValues(instruction, {1, 0, 1, 1})
                                     : HasValues(instruction, {1, 0, 1});
    case PtxKind::kSetPredicate:
    case PtxKind::kSharedOfCluster:
      return HasValues(instruction, {1, 1, 1});
    case PtxKind::kSelect:
      return HasValues(instruction, {1, 1, 1, 1});
    case PtxKind::kArithmetic:
      return opcode.operation == 'm' ? HasValues(instruction, {1, 1, 1, 1})
                                     : HasValues(instruction, {1, 1, 1});
    case PtxKind::kLoad:
    case PtxKind::kLoadMatrices:
      return HasValues(instruction, {count, 0});
    case PtxKind::kStore:
      if (opcode.completes) return HasValues(instruction, {0, count, 0});
      return HasValues(instruction, {0, count});
    case PtxKind::kStoreMatrices:
      return HasValues(instruction, {0, count});
    case PtxKind::kCopyAsync:
      return HasValues(instruction, {0, 0, 1}) || HasValues(instruction, {0, 0, 1, 1});
    case PtxKind::kBulkLoad:
    case PtxKind::kBulkStore:
      return BulkCopyHasItsOperands(instruction);
    case PtxKind::kWgmma:
      return WgmmaHasItsOperands(instruction);
    case PtxKind::kRegisters:
    case PtxKind::kWaitForCopies:
    case PtxKind::kWgmmaWait:
    case PtxKind::kWaitForBulkCopies:
      return HasValues(instruction, {1});
    case PtxKind::kBarrier:
      return HasValues(instruction, {1, 1}) ||
             (opcode.barrier == MbarrierOp::kWait && HasValues(instruction, {1}));
    case PtxKind::kMbarrier:
      return MbarrierHasItsOperands(instruction);
    case PtxKind::kArriveAfterCopies:
      return HasValues(instruction, {0});
    case PtxKind::kElect:
      return HasValues(instruction, {2, 1});
    case PtxKind::kMultiply: {
      const TensorForm& form = opcode.form;
      const int bits_of_k = form.k * TensorTypeBits(form.a);
      const int sums = form.m * form.n * TensorTypeBits(form.sums) / 1024;
      return HasValues(instruction,
                       {sums, form.m * bits_of_k / 1024, form.n * bits_of_k / 1024, sums});
    }
    case PtxKind::kBranch:
    case PtxKind::kNothing:
    case PtxKind::kProxyFence:
    case PtxKind::kMbarrierInitFence:
    case PtxKind::kCommitBulkCopies:
    case PtxKind::kWgmmaFence:
    case PtxKind::kWgmmaCommit:
    case PtxKind::kClusterBarrier:
    case PtxKind::kCommitCopies:
    case PtxKind::kWaitForAllCopies:
      return true;
  }
  return false;
}

}  // namespace stridewise::executor
