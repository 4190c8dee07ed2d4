// Splits FP32 operands into matrices of a scheme's parts (split_scheme.h): rows by a warp or a
// block, strips of columns by a cluster (split_strip.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_

#include <cstdint>

#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"
#include "matmul/device/split_strip.h"

namespace stridewise {

// Returns the sum or the maximum over the threads that split a row together: a warp or the block.
template <int kThreads, typename OfWarp, typename OfTwo>
__device__ inline uint32_t Reduce(uint32_t value, uint32_t* of_warps, OfWarp of_warp,
                                  OfTwo of_two) {
  value = of_warp(value);
  if constexpr (kThreads == 32) return value;
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (int i = 1; i < kSplitWarps; ++i) value = of_two(value, of_warps[i]);
  return value;
}
template <int kThreads>
__device__ inline uint32_t ReduceMax(uint32_t value, uint32_t* of_warps) {
  return Reduce<kThreads>(
      value, of_warps, [](uint32_t x) { return __reduce_max_sync(~0u, x); },
      [](uint32_t x, uint32_t y) { return max(x, y); });
}
template <int kThreads>
__device__ inline uint32_t ReduceSum(uint32_t value, uint32_t* of_warps) {
  return Reduce<kThreads>(
      value, of_warps, [](uint32_t x) { return __reduce_add_sync(~0u, x); },
      [](uint32_t x, uint32_t y) { return x + y; });
}

// Splits one row by kThreads threads: a warp or the block. `cache` is theirs.
template <typename Scheme, int kThreads, bool kWhole>
__device__ inline void SplitRow(const SplitSource& source, int64_t row, float4* cache) {
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int64_t matrix = row / source.rows;
  const float* const from =
      source.data + matrix * source.stride + (row - matrix * source.rows) * source.ld;
  const int quads = (source.cols + 3) / 4;
  const int cached = min(quads, source.cached_quads);
  const auto load = [&](int q) { return LoadQuad<kWhole>(from, 4 * q, source.cols); };
  if constexpr (kWhole) {
    for (int q = thread; q < cached; q += kThreads) CopyQuad(from + 4 * q, &cache[q]);
    FinishQuads();
  } else {
    for (int col = thread; col < 4 * cached; col += kThreads) {
      const bool inside = col < source.cols;
      CopyFloat(inside ? from + col : from, reinterpret_cast<float*>(cache) + col, inside);
    }
    FinishQuads();
    if constexpr (kThreads == 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  uint32_t most = 0;
  int q = thread;
#pragma unroll 1
  for (; q < cached; q += kThreads) most = MaxAbsBits(most, cache[q]);
#pragma unroll 1
  for (; q < quads; q += kThreads) most = MaxAbsBits(most, load(q));
  __shared__ uint32_t of_warps[3][kSplitWarps];
  most = ReduceMax<kThreads>(most, of_warps[0]);
  const float scale = PowerFor<Scheme>(most);
  typename Scheme::Counts counts;
  const auto split = [&](int i, const float4& quad) {
    SplitAndStore<Scheme>(source, row * source.out_ld + 4 * i, quad, {scale, scale, scale, scale},
                          &counts, &counts);
  };
  q = thread;
#pragma unroll 1
  for (; q < cached; q += kThreads) split(q, cache[q]);
#pragma unroll 1
  for (; q < quads; q += kThreads) split(q, load(q));
  const uint32_t large = ReduceSum<kThreads>(counts.LargeX() + counts.LargeY(), of_warps[1]);
  const uint32_t poor = ReduceSum<kThreads>(counts.PoorX() + counts.PoorY(), of_warps[2]);
  if (thread == 0) {
    source.scales[row] =
        SplitScaleFrom<Scheme>(most, static_cast<int>(large), static_cast<int>(poor), source.cols);
  }
}

// Returns whether all fours that the block loads lie inside, at multiples of 16 bytes.
__device__ inline bool LoadsWholeQuads(const SplitSource& source, int64_t block) {
  if (!source.vectors) return false;
  if (source.scale_rows) return source.cols % 4 == 0;
  const int strips = (source.cols + source.strip_cols - 1) / source.strip_cols;
  return block / kSplitCluster % strips < source.cols / source.strip_cols;
}

// Splits what is the block's: a part of a strip, a row, or a row for each warp.
template <typename Scheme, bool kWhole>
__device__ inline void SplitBlock(const SplitSource& source, int64_t block, float4* cache) {
  const int64_t rows = static_cast<int64_t>(source.count) * source.rows;
  if (!source.scale_rows) {
    const int rank = static_cast<int>(block % kSplitCluster);
    if constexpr (!Scheme::kForm.k_major) {
      if (source.strip_cols == kWideStripCols) {
        SplitStrip<Scheme, kWhole, kWideStripCols>(source, block / kSplitCluster, rank, cache);
        return;
      }
    }
    SplitStrip<Scheme, kWhole, kStripCols>(source, block / kSplitCluster, rank, cache);
  } else if (source.cols > kWarpRowCols) {
    if (block < rows) SplitRow<Scheme, kSplitThreads, kWhole>(source, block, cache);
  } else {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int64_t row = block * kSplitWarps + warp;
    if (row < rows) SplitRow<Scheme, 32, kWhole>(source, row, cache + warp * source.cached_quads);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
