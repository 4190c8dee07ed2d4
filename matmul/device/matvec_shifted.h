// Matrix-vector products y * X with an MN-major X whose rows begin anywhere, by loads of 16 bytes.
//
// Rows of X that are a multiple of four apart begin equally far behind a multiple of 16 bytes, so
// that a thread, whose k are a multiple of four apart, has the same columns in each of its loads:
// those of its group of lanes, moved by less than four. The groups' sums find each other in shared
// memory. Loads of 4 bytes would be four times as many.

#ifndef STRIDEWISE_MATMUL_DEVICE_MATVEC_SHIFTED_H_
#define STRIDEWISE_MATMUL_DEVICE_MATVEC_SHIFTED_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/matvec_product.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// A block has kCols columns, which lie within kLanes vectors wherever the first of them begins.
// Groups of kLanes lanes have neighbouring k, and a thread kAtOnce loads in flight.
template <int kLoadsAtOnce, int kBlocks>
struct MatVecShiftedForm {
  static constexpr int kThreads = 512;
  static constexpr int kLanes = 16;
  static constexpr int kCols = kLanes * kVector - (kVector - 1);
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr int kAtOnce = kLoadsAtOnce;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
  static_assert(kGroups % kVector == 0, "the k of a thread are a multiple of four apart");
};

// REQUIRES: product.x is at a multiple of 16 bytes, product.x_ld at least 4.
template <typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kBlocksPerMultiprocessor)
    MatVecShifted(MatVecProduct product) {
  constexpr int kLanes = Form::kLanes;
  constexpr int kGroups = Form::kGroups;
  constexpr int kAtOnce = Form::kAtOnce;
  constexpr int kCols = Form::kCols;
  __shared__ float group_sums[kGroups][kCols];
  __shared__ float sums[kCols];
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const auto group = static_cast<int>(threadIdx.x / kLanes);
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const int64_t first_col = static_cast<int64_t>(blockIdx.x / product.parts) * kCols;
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part;
  const auto left =
      static_cast<int>(min(product.k - first_k, static_cast<int64_t>(product.k_of_part)));
  const float* const matrix = product.x + index * product.x_batch_stride;
  const float* const y = product.y + index * product.y_batch_stride + first_k * product.y_stride;

  const float* x = matrix + (first_k + group) * product.x_ld + first_col;
  const auto shift = static_cast<int>(reinterpret_cast<uintptr_t>(x) / sizeof(float) % kVector);
  // The vector's first column, counted from the block's, and what of it lies in X.
  int col = lane * kVector - shift;
  const int cols_left = static_cast<int>(min(product.cols - first_col, int64_t{kCols}));
  if (col >= cols_left) col = -shift;  // Not stored.
  x += col;
  int rows = left > group ? (left - group + kGroups - 1) / kGroups : 0;
  // The last row's last vector may end behind X. Its elements are added one by one.
  const int64_t row_step = kGroups * product.x_ld;
  const bool last_is_outside =
      rows > 0 &&
      x + (rows - 1) * row_step + kVector > matrix + (product.k - 1) * product.x_ld + product.cols;
  if (last_is_outside) --rows;

  float acc[kVector] = {};
#pragma unroll 1
  for (int row = 0; row < rows; row += kAtOnce) {
    // As in MatVecColumns(): no load has a condition.
    float values[kAtOnce][kVector];
    float factors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int existing = min(row + i, rows - 1);
      LoadFour(x + existing * row_step, values[i]);
      factors[i] = y[(group + existing * kGroups) * product.y_stride];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool exists = row + i < rows;
#pragma unroll
      for (int e = 0; e < kVector; ++e) {
        acc[e] = fma(exists ? values[i][e] : 0, exists ? factors[i] : 0, acc[e]);
      }
    }
  }
  if (last_is_outside) {
    const float factor = y[(group + rows * kGroups) * product.y_stride];
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      if (col + e < cols_left) acc[e] = fma(x[rows * row_step + e], factor, acc[e]);
    }
  }
  col = lane * kVector - shift;
#pragma unroll
  for (int e = 0; e < kVector; ++e) {
    if (col + e >= 0 && col + e < kCols) group_sums[group][col + e] = acc[e];
  }
  __syncthreads();
  float sum = 0;
  if (threadIdx.x < kCols) {
#pragma unroll 8
    for (int i = 0; i < kGroups; ++i) sum += group_sums[i][threadIdx.x];
  }
  StoreMatVecSums(product, index, first_col, kCols, sum, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MATVEC_SHIFTED_H_
