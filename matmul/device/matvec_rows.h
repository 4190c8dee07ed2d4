// Matrix-vector products y * X with a K-major X, whose rows are contiguous along k.

#ifndef STRIDEWISE_MATMUL_DEVICE_MATVEC_ROWS_H_
#define STRIDEWISE_MATMUL_DEVICE_MATVEC_ROWS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/matvec_product.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// X is K-major. A warp has kCols columns of C at a time, and loads kWidth neighbours at once.
template <int kWarpCols, int kLoadWidth>
struct MatVecRowsForm {
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kCols = kWarpCols;
  static constexpr int kWidth = kLoadWidth;
  static constexpr int kAtOnce = (kWidth == kVector ? 8 : 16) / kCols;  // Loads of a row.
  static constexpr int kStepK = kWarpSize * kWidth * kAtOnce;
  static constexpr int kWarpsOfMultiprocessor = 24;  // For the registers that nvcc uses.
};

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads) MatVecRows(MatVecProduct product) {
  constexpr int kCols = Form::kCols;
  constexpr int kWidth = Form::kWidth;
  constexpr int kAtOnce = Form::kAtOnce;
  __shared__ float warp_sums[Form::kWarps][kCols];
  __shared__ float sums[kMatVecCols];
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const auto warp = threadIdx.x / kWarpSize;
  const uint32_t groups = Form::kWarps / product.slices;  // Of warps with the same columns.
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const int64_t first_col = static_cast<int64_t>(blockIdx.x / product.parts) * groups * kCols;
  const int64_t col = first_col + warp / product.slices * kCols;
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part +
                          static_cast<int64_t>(warp % product.slices) * product.k_of_slice;
  const auto extent_k =
      static_cast<int>(min(int64_t{product.k_of_slice}, max(product.k - first_k, int64_t{0})));
  const float* const y = product.y + index * product.y_batch_stride + first_k * product.y_stride;
  // Rows beyond the last one are that one again, and their sums are not stored.
  const float* x[kCols];
#pragma unroll
  for (int i = 0; i < kCols; ++i) {
    x[i] = product.x + index * product.x_batch_stride + first_k +
           min(col + i, product.cols - 1) * product.x_ld;
  }
  const bool y_vectors = kWidth == kVector && product.y_stride == 1 &&
                         reinterpret_cast<uintptr_t>(y) % kVectorBytes == 0;
  float acc[kCols] = {};
#pragma unroll 1
  for (int first = 0; first < extent_k; first += Form::kStepK) {
    // All loads stand before the first use and have no conditions. Beyond the last k that one is
    // loaded again, and replaced by 0 lest Inf * 0 be added.
    int at[kAtOnce];
    float values[kCols][kAtOnce][kWidth];
    float factors[kAtOnce][kWidth];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      at[j] = min(first + (j * kWarpSize + lane) * kWidth, extent_k - kWidth);
#pragma unroll
      for (int i = 0; i < kCols; ++i) LoadMatVecWide<kWidth>(x[i] + at[j], values[i][j]);
    }
    if (y_vectors) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) LoadMatVecWide<kWidth>(y + at[j], factors[j]);
    } else {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) factors[j][e] = y[(at[j] + e) * product.y_stride];
      }
    }
    if (extent_k - first < Form::kStepK) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (first + (j * kWarpSize + lane) * kWidth < extent_k) continue;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          factors[j][e] = 0;
#pragma unroll
          for (int i = 0; i < kCols; ++i) values[i][j][e] = 0;
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) acc[i] = fma(values[i][j][e], factors[j][e], acc[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kCols; ++i) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
      acc[i] += __shfl_xor_sync(~0u, acc[i], offset);
    }
    if (lane == i) warp_sums[warp][i] = acc[i];
  }
  __syncthreads();
  const int cols = static_cast<int>(groups) * kCols;
  float sum = 0;
  if (static_cast<int>(threadIdx.x) < cols) {
    const uint32_t first = threadIdx.x / kCols * product.slices;
    for (uint32_t i = 0; i < product.slices; ++i) sum += warp_sums[first + i][threadIdx.x % kCols];
  }
  StoreMatVecSums(product, index, first_col, cols, sum, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MATVEC_ROWS_H_
