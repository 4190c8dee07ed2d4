// The case of thin.cu with one short line, where neighbours of the long operand in memory are
// different lines: a row times a matrix.
//
// Four fma for each 16 bytes: nothing to keep in shared memory, and registers enough for what is on
// its way. The ring of thin_across.h has a prologue, divisions and a large argument, which count
// where the whole takes 20 us.

#ifndef STRIDEWISE_MATMUL_DEVICE_THIN_LINE_H_
#define STRIDEWISE_MATMUL_DEVICE_THIN_LINE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/block_tile.h"
#include "matmul/device/tile_store.h"

namespace stridewise {

// The argument, what is read first in front.
struct LineProduct {
  const float* x;  // The long operand,
  const float* y;  // the short one,
  uint32_t x_ld;
  int lines;  // Of the long operand: a multiple of 4.
  int terms;
  int terms_of_block;
  int64_t y_step;
  float* c;  // and the result, whose elements are c_step apart; a part's, part_step.
  int64_t c_step, part_step;
  Scale scale;
  int64_t x_batch_step, y_batch_step, c_batch_step;
};

// A block has 32 lines, 128 bytes of each term, and as many terms at a time as it has groups of
// eight threads, of which each has four lines. kAtOnce terms of a thread are on their way at once.
template <int kTermsAtOnce, int kBlocksOfMultiprocessor>
struct LineBlock {
  static constexpr int kAtOnce = kTermsAtOnce;
  static constexpr int kBlocks = kBlocksOfMultiprocessor;
  static constexpr int kThreads = 512;
  static constexpr int kLanes = 8;
  static constexpr int kLines = kLanes * kVector;
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr int kWarps = kThreads / kWarpSize;
};
using FewLines = LineBlock<8, 2>;
using ManyLines = LineBlock<4, 4>;  // More blocks: no second round of them up to 16896 lines.

__device__ inline void AddTerm(float factor, const float4& vector, float4* sum) {
  sum->x = fma(factor, vector.x, sum->x);
  sum->y = fma(factor, vector.y, sum->y);
  sum->z = fma(factor, vector.z, sum->z);
  sum->w = fma(factor, vector.w, sum->w);
}

// A grid has a column for each tile of lines, a row for each part of the terms, and a layer for
// each multiplication of a batch. REQUIRES: the long operand consists of vectors.
template <typename Block>
__global__ void __launch_bounds__(Block::kThreads, Block::kBlocks) ThinLine(LineProduct product) {
  constexpr int kGroups = Block::kGroups;
  constexpr int kAtOnce = Block::kAtOnce;
  __shared__ float4 of_warps[Block::kWarps][Block::kLanes];
  const int lane = static_cast<int>(threadIdx.x % Block::kLanes);
  const int group = static_cast<int>(threadIdx.x / Block::kLanes);
  const int first_line = static_cast<int>(blockIdx.x) * Block::kLines;
  const int first_term = static_cast<int>(blockIdx.y) * product.terms_of_block;
  const int last_term = min(first_term + product.terms_of_block, product.terms);
  // Threads without a line have the last one's, and nothing to store.
  const float* const x = product.x + blockIdx.z * product.x_batch_step +
                         min(first_line + lane * kVector, product.lines - kVector);
  const float* const y = product.y + blockIdx.z * product.y_batch_step;
  float4 sum = {};
  for (int term = first_term + group; term - group < last_term; term += kAtOnce * kGroups) {
    // Of the factors of a group's threads each loads one.
    static_assert(kAtOnce <= Block::kLanes, "one for each");
    const int mine = term + lane % kAtOnce * kGroups;
    const float factor = mine < last_term ? y[mine * product.y_step] : 0.0f;
    // Loads without conditions, all before the first use: with conditions the compiler waits for
    // each. What does not exist is the last term's, replaced by 0 lest Inf * 0 be added.
    float4 vectors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto existing = static_cast<uint32_t>(min(term + i * kGroups, last_term - 1));
      vectors[i] = *reinterpret_cast<const float4*>(x + uint64_t{existing} * product.x_ld);
    }
    if (term - group + kAtOnce * kGroups > last_term) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (term + i * kGroups >= last_term) vectors[i] = {0, 0, 0, 0};
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      AddTerm(__shfl_sync(~0u, factor, i, Block::kLanes), vectors[i], &sum);
    }
  }
  // The sums of a warp's groups, then of the warps.
#pragma unroll
  for (int apart = Block::kLanes; apart < kWarpSize; apart *= 2) {
    sum.x += __shfl_xor_sync(~0u, sum.x, apart);
    sum.y += __shfl_xor_sync(~0u, sum.y, apart);
    sum.z += __shfl_xor_sync(~0u, sum.z, apart);
    sum.w += __shfl_xor_sync(~0u, sum.w, apart);
  }
  if (threadIdx.x % kWarpSize < Block::kLanes) of_warps[threadIdx.x / kWarpSize][lane] = sum;
  __syncthreads();
  const int line = first_line + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= Block::kLines || line >= product.lines) return;
  const auto* const sums = reinterpret_cast<const float*>(of_warps) + threadIdx.x;
  float all = 0;
#pragma unroll
  for (int warp = 0; warp < Block::kWarps; ++warp) all += sums[warp * Block::kLines];
  float& element = product.c[blockIdx.z * product.c_batch_step + blockIdx.y * product.part_step +
                             line * product.c_step];
  const float result = product.scale.alpha * all;
  element = product.scale.beta == 0 ? result : fma(product.scale.beta, element, result);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_THIN_LINE_H_
