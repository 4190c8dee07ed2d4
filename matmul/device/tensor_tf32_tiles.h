// The tiles of TF32, and which of them a call takes; with an epilogue or without.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_TILES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_TILES_H_

#include "matmul/device/tensor_types.h"

namespace stridewise {

template <OperandLayout kMajorA, int kColumns, int kStages>
using Tf32Tile = TensorTile<float, float, kColumns, kStages, 2, kMajorA, OperandLayout::kKMajor>;

// Runs the product with the wider or the narrower tile.
template <OperandLayout kMajorA, typename... Finish>
LaunchStatus RunTiles(const MatMulArgs& args, const DeviceModel& device,
                      const TensorOperands<float>& operands, bool c_transposed,
                      const Finish&... finish) {
  // With A in registers narrow tiles wait for it: they take 17 % longer, and else 6 %.
  constexpr double kCost = kMajorA == OperandLayout::kMnMajor ? 1.17 : 1.06;
  if (RoundsTime(args, device, 128, kCost) < RoundsTime(args, device, 256, 1)) {
    return LaunchTensor<Tf32Tile<kMajorA, 128, 6>>(args, device, operands, {}, c_transposed,
                                                   finish...);
  }
  return LaunchTensor<Tf32Tile<kMajorA, 256, 4>>(args, device, operands, {}, c_transposed,
                                                 finish...);
}

// Runs a product of TF32: an operand that is MN-major is the tile's A, in registers.
template <typename... Finish>
LaunchStatus RunTf32Tiles(const MatMulArgs& args, const DeviceModel& device,
                          const TensorOperands<float>& operands, const Finish&... finish) {
  const bool a_is_k_major = !args.a.transposed || operands.turns_a;
  const bool b_is_k_major = args.b.transposed || operands.turns_b;
  if (a_is_k_major && b_is_k_major) {
    return RunTiles<OperandLayout::kKMajor>(args, device, operands, false, finish...);
  }
  return RunTiles<OperandLayout::kMnMajor>(args, device, operands,
                                           /*c_transposed=*/a_is_k_major, finish...);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_TILES_H_
