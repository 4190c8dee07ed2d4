// The case of thin.cu with a single row and an MN-major large operand: a row times a matrix.
//
// Each 16 bytes take part in four fma: there is nothing to keep in shared memory, and there are
// registers enough for what is in flight. The ring of skinny_mn_major.h has a prologue, divisions
// and a large argument, which count where the whole takes 20 us.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_ROW_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_ROW_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/epilogue.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// The argument; the fields that a thread reads first come first.
struct RowProduct {
  const float* x;  // The large operand, with `cols` columns.
  const float* y;  // The row.
  uint32_t x_ld;
  int cols;  // A multiple of 4.
  int k;
  int k_of_block;
  int64_t y_stride;  // Between the elements of y.
  float* c;          // The result, or the partial sums of each part of k.
  int64_t c_stride, part_stride;
  Epilogue<Float32> epilogue;
  int64_t x_batch_stride, y_batch_stride, c_batch_stride;
};

// A block has 32 columns, 128 bytes for each k, and kGroups k at a time: one for each group of
// eight threads, of which each has four columns. A thread has kAtOnce loads in flight.
template <int kLoadsAtOnce, int kBlocks>
struct RowPolicy {
  static constexpr int kAtOnce = kLoadsAtOnce;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
  static constexpr int kThreads = 512;
  static constexpr int kLanes = 8;
  static constexpr int kCols = kLanes * kVector;
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr int kWarps = kThreads / kWarpSize;
};
using RowOfFewColumns = RowPolicy<8, 2>;
using RowOfManyColumns = RowPolicy<4, 4>;  // More blocks: no second round up to 16896 columns.

__device__ inline void AddScaled(float factor, const float4& vector, float4* sum) {
  sum->x = fma(factor, vector.x, sum->x);
  sum->y = fma(factor, vector.y, sum->y);
  sum->z = fma(factor, vector.z, sum->z);
  sum->w = fma(factor, vector.w, sum->w);
}

// A grid has a block in x for each tile of columns, in y for each part of k, and in z for each
// multiplication of a batch. REQUIRES: the large operand is made of vectors.
template <typename Policy>
__global__ void __launch_bounds__(Policy::kThreads, Policy::kBlocksPerMultiprocessor)
    SkinnyRow(RowProduct product) {
  constexpr int kGroups = Policy::kGroups;
  constexpr int kAtOnce = Policy::kAtOnce;
  __shared__ float4 warp_sums[Policy::kWarps][Policy::kLanes];
  const int lane = static_cast<int>(threadIdx.x % Policy::kLanes);
  const int group = static_cast<int>(threadIdx.x / Policy::kLanes);
  const int first_col = static_cast<int>(blockIdx.x) * Policy::kCols;
  const int first_k = static_cast<int>(blockIdx.y) * product.k_of_block;
  const int last_k = min(first_k + product.k_of_block, product.k);
  // Threads beyond the last column load that one again, and store nothing.
  const float* const x = product.x + blockIdx.z * product.x_batch_stride +
                         min(first_col + lane * kVector, product.cols - kVector);
  const float* const y = product.y + blockIdx.z * product.y_batch_stride;
  float4 sum = {};
  for (int k = first_k + group; k - group < last_k; k += kAtOnce * kGroups) {
    // Each thread of a group loads one of the group's elements of y.
    static_assert(kAtOnce <= Policy::kLanes, "one for each");
    const int my_k = k + lane % kAtOnce * kGroups;
    const float factor = my_k < last_k ? y[my_k * product.y_stride] : 0.0f;
    // All loads stand before the first use and have no conditions: with conditions the compiler
    // waits for each. Beyond the last k that one is loaded again, and replaced by 0 lest Inf * 0 be
    // added.
    float4 vectors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto existing = static_cast<uint32_t>(min(k + i * kGroups, last_k - 1));
      vectors[i] = *reinterpret_cast<const float4*>(x + uint64_t{existing} * product.x_ld);
    }
    if (k - group + kAtOnce * kGroups > last_k) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (k + i * kGroups >= last_k) vectors[i] = {0, 0, 0, 0};
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      AddScaled(__shfl_sync(~0u, factor, i, Policy::kLanes), vectors[i], &sum);
    }
  }
  // Adds the sums of a warp's groups, then those of the warps.
#pragma unroll
  for (int offset = Policy::kLanes; offset < kWarpSize; offset *= 2) {
    sum.x += __shfl_xor_sync(~0u, sum.x, offset);
    sum.y += __shfl_xor_sync(~0u, sum.y, offset);
    sum.z += __shfl_xor_sync(~0u, sum.z, offset);
    sum.w += __shfl_xor_sync(~0u, sum.w, offset);
  }
  if (threadIdx.x % kWarpSize < Policy::kLanes) warp_sums[threadIdx.x / kWarpSize][lane] = sum;
  __syncthreads();
  const int col = first_col + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= Policy::kCols || col >= product.cols) return;
  const auto* const sums = reinterpret_cast<const float*>(warp_sums) + threadIdx.x;
  float all = 0;
#pragma unroll
  for (int warp = 0; warp < Policy::kWarps; ++warp) all += sums[warp * Policy::kCols];
  product.epilogue.Store(
      all, &product.c[blockIdx.z * product.c_batch_stride + blockIdx.y * product.part_stride +
                      col * product.c_stride]);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_ROW_H_
