// Matrix-vector products y * X with an MN-major X: lanes have columns of their own.

#ifndef STRIDEWISE_MATMUL_DEVICE_MATVEC_COLUMNS_H_
#define STRIDEWISE_MATMUL_DEVICE_MATVEC_COLUMNS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/matvec_product.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// X is MN-major. A block has kMatVecCols columns, kWidth of them a lane, and a group of lanes for
// each of kGroups neighbouring k. A thread has kAtOnce loads in flight.
template <int kLoadWidth, int kLoadsAtOnce, int kBlocks, int kThreadsOfBlock = 512>
struct MatVecColumnsForm {
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kWidth = kLoadWidth;
  static constexpr int kLanes = kMatVecCols / kWidth;
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kAtOnce = kLoadsAtOnce;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
};

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kBlocksPerMultiprocessor)
    MatVecColumns(MatVecProduct product) {
  constexpr int kWidth = Form::kWidth;
  constexpr int kLanes = Form::kLanes;
  constexpr int kGroups = Form::kGroups;
  constexpr int kAtOnce = Form::kAtOnce;
  __shared__ float warp_sums[Form::kWarps][kMatVecCols];
  __shared__ float sums[kMatVecCols];
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const auto group = static_cast<int>(threadIdx.x / kLanes);
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const int64_t first_col = static_cast<int64_t>(blockIdx.x / product.parts) * kMatVecCols;
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part;
  const auto left =
      static_cast<int>(min(product.k - first_k, static_cast<int64_t>(product.k_of_part)));
  // Threads beyond the last column load that one again, and store nothing.
  const float* const x = product.x + index * product.x_batch_stride + first_k * product.x_ld +
                         min(first_col + lane * kWidth, product.cols - kWidth);
  const float* const y = product.y + index * product.y_batch_stride + first_k * product.y_stride;
  float acc[kWidth] = {};
  int k = group;
  for (int rest = left; rest > 0; rest -= kAtOnce * kGroups) {
    // All loads stand before the first use and have no conditions. Beyond the last k that one is
    // loaded again, and replaced by 0 lest Inf * 0 be added.
    float values[kAtOnce][kWidth];
    float factors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int existing = k + min(i * kGroups, left - 1 - k);
      LoadMatVecWide<kWidth>(x + existing * product.x_ld, values[i]);
      factors[i] = y[existing * product.y_stride];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool exists = i * kGroups < left - k;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        acc[e] = fma(exists ? values[i][e] : 0, exists ? factors[i] : 0, acc[e]);
      }
    }
    k += kAtOnce * kGroups;
  }
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
#pragma unroll
    for (int offset = kLanes; offset < kWarpSize; offset *= 2) {
      acc[e] += __shfl_xor_sync(~0u, acc[e], offset);
    }
    if (threadIdx.x % kWarpSize < kLanes) {
      warp_sums[threadIdx.x / kWarpSize][lane * kWidth + e] = acc[e];
    }
  }
  __syncthreads();
  float sum = 0;
  if (threadIdx.x < kMatVecCols) {
#pragma unroll
    for (int warp = 0; warp < Form::kWarps; ++warp) sum += warp_sums[warp][threadIdx.x];
  }
  StoreMatVecSums(product, index, first_col, kMatVecCols, sum, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MATVEC_COLUMNS_H_
