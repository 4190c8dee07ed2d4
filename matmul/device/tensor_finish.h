// The kernel of tensor_kernel.h with an epilogue of its own: C = f(alpha * sum + beta * C + bias),
// rounded once. The sums are changed in registers and then stored as tensor_kernel.h stores sums.
//
// It is a kernel beside the plain one, whose code stays what was measured. Old values of C and the
// bias are read element by element.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_

#include <cstdint>
#include <type_traits>

#include "matmul/device/activation.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor_kernel.h"

namespace stridewise {

// What is done to sums. C is described as the caller has it, also where tiles are those of C
// transposed; `scales` are null but for those of whole FP8 operands.
struct TensorFinish {
  TensorOutput c;
  TensorScales scales;
};

// A tile whose sums have become floats: INT8's, which are integers before.
template <typename Tile>
struct FinishedTile : Tile {
  using Accumulator = float;
};

// Calls f(value, row, col) for a thread's values of a consumer's 64 rows of a tile.
template <typename Tile, typename F>
__device__ inline void ForEachValue(int thread, int row, int col,
                                    float (&values)[Tile::kBlockN / 2], F f) {
  constexpr int kBelow = Tile::kAInRegisters ? 4 : 8;
  const int first_row = row + TensorRow<Tile>(thread);
  const int first_col = col + thread % 4 * 2;
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) {
    f(values[i], first_row + i / 2 % 2 * kBelow, first_col + i / 4 * 8 + i % 2);
  }
}

// Sets `values` to what is to be stored for sums. A loop for each thing that is asked for: one loop
// with choices inside would have them 128 times.
template <typename Tile>
__device__ inline void FinishSums(const TensorFinish& finish, const TensorGemm& gemm, int thread,
                                  int row, int col, int batch,
                                  const typename Tile::Accumulator (&d)[Tile::kBlockN / 2],
                                  float (&values)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  const TensorOutput& c = finish.c;
  const float alpha = c.alpha * ScaleOfAll(finish.scales);
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / 2; ++i) values[i] = alpha * static_cast<float>(d[i]);
  if (c.beta != 0) {
    const Out* const old = static_cast<const Out*>(c.data) + batch * c.stride;
    const int64_t of_row = gemm.c_transposed ? 1 : c.ld;
    const int64_t of_col = gemm.c_transposed ? c.ld : 1;
    ForEachValue<Tile>(thread, row, col, values, [&](float& value, int r, int s) {
      if (r >= gemm.m || s >= gemm.n) return;
      value = fmaf(c.beta, static_cast<float>(old[r * of_row + s * of_col]), value);
    });
  }
  if (c.bias != nullptr) {
    const Out* const bias = static_cast<const Out*>(c.bias);
    ForEachValue<Tile>(thread, row, col, values, [&](float& value, int r, int s) {
      const int of_c = gemm.c_transposed ? r : s;
      if (of_c < c.cols) value += static_cast<float>(bias[of_c]);
    });
  }
  if (c.activation == Activation::kRelu) {
#pragma unroll
    for (float& value : values) value = FastActivate(Activation::kRelu, value);
  } else if (c.activation == Activation::kGelu) {
#pragma unroll
    for (float& value : values) value = FastActivate(Activation::kGelu, value);
  }
}

// Finishes sums, and stores them. `gemm` has an alpha of 1 and a beta of 0.
struct FinishesSums {
  const TensorFinish& finish;

  template <typename Tile>
  __device__ void operator()(const CUtensorMap& c, const TensorGemm& gemm,
                             const TensorShared<Tile>& shared, int consumer, int thread, int row,
                             int col, int batch,
                             const typename Tile::Accumulator (&d)[Tile::kBlockN / 2]) const {
    using Finished = FinishedTile<Tile>;
    float values[Tile::kBlockN / 2];
    FinishSums<Tile>(finish, gemm, thread, row, col, batch, d, values);
    StoresSums()(c, gemm, TensorShared<Finished>(shared.Base()), consumer, thread, row, col, batch,
                 values);
  }
};

template <typename Tile>
__global__ void __launch_bounds__(kTensorThreads, 1)
    TensorProductFinished(const __grid_constant__ CUtensorMap a,
                          const __grid_constant__ CUtensorMap b,
                          const __grid_constant__ CUtensorMap c,
                          const __grid_constant__ TensorGemm gemm,
                          const __grid_constant__ TensorFinish finish) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  MultiplyTensors<Tile, /*kAdds=*/false>(a, b, c, gemm, FinishesSums{finish});
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISH_H_
