// The tiles of FP8, and which of them a call with promoted sums takes; with an epilogue or without.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_FP8_TILES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_FP8_TILES_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <utility>

#include "matmul/device/tensor_types.h"

namespace stridewise {

template <typename Element, typename Out, int kColumns, int kStages, TensorSums kSums>
using Fp8Tile = TensorTile<Element, Out, kColumns, kStages, 2, OperandLayout::kKMajor,
                           OperandLayout::kKMajor, kSums>;

// The same for C transposed, which may have 176 columns.
template <typename Element, typename Out, int kColumns>
using TurnedFp8Tile = TensorTile<Element, Out, kColumns, 4, 2, OperandLayout::kKMajor,
                                 OperandLayout::kKMajor, TensorSums::kPromoted, /*kIsTurned=*/true>;

// Runs promoted sums. Without factors of blocks their two sets of accumulators leave registers for
// 192 columns; 4096 x 4096 is 384 tiles of 176, which fill the last round of clusters. With
// factors tiles are 128 wide, as the blocks are. `Turned` has the operands in the other order.
template <typename Element, typename Turned, typename Out, typename... Finish>
LaunchStatus RunPromoted(const MatMulArgs& args, const DeviceModel& device,
                         const TensorOperands<Element>& operands, const TensorScales& scales,
                         const Finish&... finish) {
  const double narrow = RoundsTime(args, device, 128, 1);
  if constexpr (sizeof(Out) == 2) {
    MatMulArgs turned = args;
    std::swap(turned.m, turned.n);
    const double turned_176 = RoundsTime(turned, device, 176, 1);
    const double turned_192 = RoundsTime(turned, device, 192, 1);
    // Tiles of 128 columns are not multiplied in halves: of the same rounds they take 2 % longer.
    if (scales.blocks_of_k == 0 && StoresByTma<Out>(args) &&
        std::min(turned_176, turned_192) <= narrow) {
      const TensorOperands<Turned> same(args);
      return turned_176 < turned_192
                 ? LaunchTensor<TurnedFp8Tile<Turned, Out, 176>>(args, device, same, scales,
                                                                 /*c_transposed=*/true, finish...)
                 : LaunchTensor<TurnedFp8Tile<Turned, Out, 192>>(args, device, same, scales,
                                                                 /*c_transposed=*/true, finish...);
    }
  }
  if (scales.blocks_of_k == 0 && RoundsTime(args, device, 192, 1) < narrow) {
    return LaunchTensor<Fp8Tile<Element, Out, 192, 4, TensorSums::kPromoted>>(
        args, device, operands, scales, false, finish...);
  }
  return LaunchTensor<Fp8Tile<Element, Out, 128, 6, TensorSums::kPromoted>>(
      args, device, operands, scales, false, finish...);
}

// Calls fn with an element of C.
template <typename Fn>
LaunchStatus ForFp8Outputs(const MatMulArgs& args, Fn fn) {
  switch (args.c.type) {
    case ElementType::kBf16:
      return fn(__nv_bfloat16());
    case ElementType::kFp16:
      return fn(__half());
    default:
      return fn(float());
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_FP8_TILES_H_
