// The tiles of TF32 and INT8, and which of them a call takes; with an epilogue or without.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_INT8_TILES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_INT8_TILES_H_

#include "matmul/device/tensor_types.h"

namespace stridewise {

template <typename Element, typename Out, OperandLayout kMajorA, int kColumns, int kStages>
using WholeTile = TensorTile<Element, Out, kColumns, kStages, 2, kMajorA, OperandLayout::kKMajor>;

// Runs the product with the wider or the narrower tile.
template <typename Element, typename Out, OperandLayout kMajorA, typename... Finish>
LaunchStatus RunTiles(const MatMulArgs& args, const DeviceModel& device,
                      const TensorOperands<Element>& operands, bool c_transposed,
                      const Finish&... finish) {
  // With A in registers narrow tiles wait for it: they take 17 % longer, and else 6 %.
  constexpr double kCost = kMajorA == OperandLayout::kMnMajor ? 1.17 : 1.06;
  if (RoundsTime(args, device, 128, kCost) < RoundsTime(args, device, 256, 1)) {
    return LaunchTensor<WholeTile<Element, Out, kMajorA, 128, 6>>(args, device, operands, {},
                                                                  c_transposed, finish...);
  }
  return LaunchTensor<WholeTile<Element, Out, kMajorA, 256, 4>>(args, device, operands, {},
                                                                c_transposed, finish...);
}

// Runs a product of TF32: an operand that is MN-major is the tile's A, in registers.
template <typename... Finish>
LaunchStatus RunTf32Tiles(const MatMulArgs& args, const DeviceModel& device,
                          const TensorOperands<float>& operands, const Finish&... finish) {
  const bool a_is_k_major = !args.a.transposed || operands.turns_a;
  const bool b_is_k_major = args.b.transposed || operands.turns_b;
  if (a_is_k_major && b_is_k_major) {
    return RunTiles<float, float, OperandLayout::kKMajor>(args, device, operands, false, finish...);
  }
  return RunTiles<float, float, OperandLayout::kMnMajor>(args, device, operands,
                                                         /*c_transposed=*/a_is_k_major, finish...);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TF32_INT8_TILES_H_
