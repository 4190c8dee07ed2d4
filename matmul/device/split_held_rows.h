// Splits rows that their threads hold in registers between the search for the largest element and
// the split. Shared memory is left to strips of columns, which run beside them.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_HELD_ROWS_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_HELD_ROWS_H_

#include <cstdint>

#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"

namespace stridewise {

// Combines a word of both warps of a row. Called by the block.
template <typename Combine>
__device__ inline uint32_t CombineWarpsOfRow(uint32_t of_warp, Combine combine, uint32_t* words) {
  static_assert(kHeldRowThreads == 64, "two warps");
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) words[warp] = of_warp;
  __syncthreads();
  return combine(of_warp, words[warp ^ 1]);
}

// Splits the rows of a block, each by kHeldRowThreads of its threads. REQUIRES: rows are whole
// fours, at most kHeldRowCols elements.
template <typename Scheme>
__device__ inline void SplitHeldRows(const SplitSource& source, uint32_t block) {
  __shared__ uint32_t words[3][kSplitWarps];
  const int thread = static_cast<int>(threadIdx.x % kHeldRowThreads);
  const uint32_t row = block * kHeldRows + threadIdx.x / kHeldRowThreads;
  const bool inside = row < static_cast<uint32_t>(source.count) * source.rows;
  const int quads = inside ? source.cols / 4 : 0;
  const uint32_t matrix = source.count > 1 ? row / static_cast<uint32_t>(source.rows) : 0;
  const float* const from =
      source.data + matrix * source.stride + (row - matrix * source.rows) * source.ld;
  float4 held[kHeldQuads];
#pragma unroll
  for (int i = 0; i < kHeldQuads; ++i) {
    const int q = thread + i * kHeldRowThreads;
    held[i] = q < quads ? __ldcs(reinterpret_cast<const float4*>(from) + q) : float4{};
  }
  uint32_t most = 0;
#pragma unroll
  for (const float4& quad : held) most = MaxAbsBits(most, quad);
  most = CombineWarpsOfRow(
      __reduce_max_sync(~0u, most), [](uint32_t x, uint32_t y) { return max(x, y); }, words[0]);
  const float scale = PowerFor<Scheme>(most);
  typename Scheme::Counts counts;
#pragma unroll
  for (int i = 0; i < kHeldQuads; ++i) {
    const int q = thread + i * kHeldRowThreads;
    if (q >= quads) break;
    SplitAndStore<Scheme>(source, int64_t{row} * source.out_ld + 4 * q, held[i],
                          {scale, scale, scale, scale}, &counts, &counts);
  }
  const auto sum = [](uint32_t x, uint32_t y) { return x + y; };
  const uint32_t large =
      CombineWarpsOfRow(__reduce_add_sync(~0u, counts.LargeX() + counts.LargeY()), sum, words[1]);
  const uint32_t poor =
      CombineWarpsOfRow(__reduce_add_sync(~0u, counts.PoorX() + counts.PoorY()), sum, words[2]);
  if (thread == 0 && inside) {
    source.scales[row] =
        SplitScaleFrom<Scheme>(most, static_cast<int>(large), static_cast<int>(poor), source.cols);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_HELD_ROWS_H_
