// TF32 and INT8 by tensor cores: `tensor_tf32` and `tensor_int8`. matmul/device/tensor_kernel.h is
// the kernel, matmul/device/tensor_types.h calls it.

#include <cstdint>

#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

template <typename Element, typename Out, OperandLayout kMajorA, int kColumns, int kStages>
using Tile = TensorTile<Element, Out, kColumns, kStages, 2, kMajorA, OperandLayout::kKMajor>;

// Runs the product with the wider or the narrower tile.
template <typename Element, typename Out, OperandLayout kMajorA>
LaunchStatus RunTiles(const MatMulArgs& args, const DeviceModel& device,
                      const TensorOperands<Element>& operands, bool c_transposed = false) {
  // With A in registers narrow tiles wait for it: they take 17 % longer, and else 6 %.
  constexpr double kCost = kMajorA == OperandLayout::kMnMajor ? 1.17 : 1.06;
  if (RoundsTime(args, device, 128, kCost) < RoundsTime(args, device, 256, 1)) {
    return LaunchTensor<Tile<Element, Out, kMajorA, 128, 6>>(args, device, operands, {},
                                                             c_transposed);
  }
  return LaunchTensor<Tile<Element, Out, kMajorA, 256, 4>>(args, device, operands, {},
                                                           c_transposed);
}

// Returns whether the call has to be one of the entry that takes all.
template <typename Element>
bool NeedsFallback(const MatMulArgs& args, const DeviceModel& device,
                   const TensorOperands<Element>& operands) {
  return !TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes();
}

}  // namespace

LaunchStatus MatMulTensorTf32(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_tf32");
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<float> operands(args);
  if (NeedsFallback(args, device, operands)) return fallback.run(args);
  const bool a_is_k_major = !args.a.transposed || operands.turns_a;
  const bool b_is_k_major = args.b.transposed || operands.turns_b;
  if (a_is_k_major && b_is_k_major) {
    return RunTiles<float, float, OperandLayout::kKMajor>(args, device, operands);
  }
  // The MN-major operand is the tile's A, in registers.
  return RunTiles<float, float, OperandLayout::kMnMajor>(args, device, operands,
                                                         /*c_transposed=*/a_is_k_major);
}

int64_t MatMulTensorTf32WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<float>(args);
}

LaunchStatus MatMulTensorInt8(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_8bit");
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<int8_t> operands(args);
  if (NeedsFallback(args, device, operands)) return fallback.run(args);
  return RunTiles<int8_t, int, OperandLayout::kKMajor>(args, device, operands);
}

int64_t MatMulTensorInt8WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<int8_t>(args);
}

}  // namespace stridewise
