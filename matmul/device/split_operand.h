// Splits FP32 operands into matrices of a scheme's parts (split_scheme.h): rows by a warp or a
// block, strips of columns by a cluster (split_strip.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_

#include <cstdint>

#include "matmul/device/split_held_rows.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"
#include "matmul/device/split_strip.h"

namespace stridewise {

// Waits for the threads that split a row together: a warp or the block.
template <int kThreads>
__device__ inline void SyncRow() {
  if constexpr (kThreads == 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

// What the warps of a block know of a row.
struct RowOfWarps {
  uint32_t most[kSplitWarps], large[kSplitWarps], poor[kSplitWarps];
};

// Returns the largest of the threads that split a row together.
template <int kThreads>
__device__ inline uint32_t MostOfRow(uint32_t most, RowOfWarps* of_warps) {
  most = __reduce_max_sync(~0u, most);
  if constexpr (kThreads == 32) return most;
  if (threadIdx.x % 32 == 0) of_warps->most[threadIdx.x / 32] = most;
  __syncthreads();
#pragma unroll
  for (const uint32_t of_warp : of_warps->most) most = max(most, of_warp);
  return most;
}

// Sums two counts over these threads; the first of them has the sums.
template <int kThreads>
__device__ inline void SumOfRow(uint32_t* large, uint32_t* poor, RowOfWarps* of_warps) {
  *large = __reduce_add_sync(~0u, *large);
  *poor = __reduce_add_sync(~0u, *poor);
  if constexpr (kThreads == 32) return;
  if (threadIdx.x % 32 == 0) {
    of_warps->large[threadIdx.x / 32] = *large;
    of_warps->poor[threadIdx.x / 32] = *poor;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
#pragma unroll
  for (int i = 1; i < kSplitWarps; ++i) {
    *large += of_warps->large[i];
    *poor += of_warps->poor[i];
  }
}

// Starts the copies of a row's first `cached` fours to shared memory.
template <int kThreads>
__device__ inline void CopyRow(const float* from, int cols, int cached, bool whole, float4* cache) {
  const int thread = static_cast<int>(threadIdx.x % kThreads);
  if (whole) {
#pragma unroll 1
    for (int q = thread; q < cached; q += kThreads) CopyQuad(from + 4 * q, &cache[q]);
  } else {
#pragma unroll 1
    for (int col = thread; col < 4 * cached; col += kThreads) {
      const bool inside = col < cols;
      CopyFloat(inside ? from + col : from, reinterpret_cast<float*>(cache) + col, inside);
    }
  }
}

// A row of all matrices of an operand, of which there are fewer than 2^31.
class RowOfSource {
 public:
  __device__ RowOfSource(const SplitSource& source, uint32_t row) {
    const uint32_t matrix = source.count > 1 ? row / static_cast<uint32_t>(source.rows) : 0;
    row_ = static_cast<int>(row - matrix * source.rows);
    data_ = source.data + matrix * source.stride + row_ * source.ld;
  }

  __device__ const float* data() const { return data_; }

  __device__ void Advance(const SplitSource& source) {
    data_ += source.ld;
    if (++row_ < source.rows) return;
    row_ = 0;
    data_ += source.stride - source.rows * source.ld;
  }

 private:
  const float* data_;
  int row_;  // Of its matrix.
};

// Splits source.rows_together rows from `first` on, or those that there are, by kThreads threads: a
// warp or the block. All copies begin at once; a row is split while those of later ones are under
// way. `cache` is the threads'.
template <typename Scheme, int kThreads>
__device__ inline void SplitRows(const SplitSource& source, uint32_t first, float4* cache) {
  const uint32_t all_rows = static_cast<uint32_t>(source.count) * source.rows;
  const int rows =
      static_cast<int>(min(static_cast<uint32_t>(source.rows_together), all_rows - first));
  const int thread = static_cast<int>(threadIdx.x % kThreads);
  const int quads = (source.cols + 3) / 4;
  const int cached = min(quads, source.cached_quads);
  const bool whole = source.vectors && source.cols % 4 == 0;
  RowOfSource row_of_copy(source, first);
  RowOfSource row_of_split = row_of_copy;
#pragma unroll 1
  for (int i = 0; i < rows; ++i) {
    CopyRow<kThreads>(row_of_copy.data(), source.cols, cached, whole, cache + i * cached);
    CommitQuads();
    row_of_copy.Advance(source);
  }
#pragma unroll 1
  for (int i = rows; i < kMostRowsTogether; ++i) CommitQuads();
  __shared__ RowOfWarps of_warps[2];
#pragma unroll 1
  for (int i = 0; i < rows; ++i) {
    const float4* const copied = cache + i * cached;
    const float* const from = row_of_split.data();
    const auto quad_of = [&](int q) {
      return q < cached ? copied[q] : LoadQuad(from, 4 * q, source.cols, whole);
    };
    CommitQuads();  // An empty one, so that the number that may be left is always the same.
    FinishQuadsBut<kMostRowsTogether>();
    if (!whole) SyncRow<kThreads>();
    uint32_t most = 0;
    int q = thread;
#pragma unroll 1
    for (; q < cached; q += kThreads) most = MaxAbsBits(most, copied[q]);
#pragma unroll 1
    for (; q < quads; q += kThreads) most = MaxAbsBits(most, quad_of(q));
    most = MostOfRow<kThreads>(most, &of_warps[i % 2]);
    const float scale = PowerFor<Scheme>(most);
    typename Scheme::Counts counts;
    const int64_t at = static_cast<int64_t>(first + i) * source.out_ld;
#pragma unroll 1
    for (q = thread; q < quads; q += kThreads) {
      SplitAndStore<Scheme>(source, at + 4 * q, quad_of(q), {scale, scale, scale, scale}, &counts,
                            &counts);
    }
    uint32_t large = counts.LargeX() + counts.LargeY();
    uint32_t poor = counts.PoorX() + counts.PoorY();
    SumOfRow<kThreads>(&large, &poor, &of_warps[i % 2]);
    row_of_split.Advance(source);
    if (thread == 0) {
      source.scales[first + i] = SplitScaleFrom<Scheme>(most, static_cast<int>(large),
                                                        static_cast<int>(poor), source.cols);
    }
  }
}

// What the blocks of an operand do.
enum class SplitWork { kRowsOfWarps, kRowsOfBlocks, kHeldRows, kStrips, kWideStrips };

// Splits what is the block's: a part of a strip, a row, or a row for each warp.
template <typename Scheme, SplitWork kWork>
__device__ inline void SplitBlockOf(const SplitSource& source, uint32_t block, float4* cache) {
  if constexpr (kWork == SplitWork::kHeldRows) {
    SplitHeldRows<Scheme>(source, block);
  } else if constexpr (kWork == SplitWork::kStrips) {
    SplitStrip<Scheme, kStripCols>(source, block, cache);
  } else if constexpr (kWork == SplitWork::kWideStrips) {
    SplitStrip<Scheme, kWideStripCols>(source, block, cache);
  } else {
    const uint32_t rows = static_cast<uint32_t>(source.count) * source.rows;
    constexpr bool kWarps = kWork == SplitWork::kRowsOfWarps;
    const uint32_t warp = kWarps ? threadIdx.x / 32 : 0;
    const uint32_t row = (block * (kWarps ? kSplitWarps : 1) + warp) * source.rows_together;
    cache += warp * source.rows_together * source.cached_quads;
    if (row < rows) SplitRows<Scheme, kWarps ? 32 : kSplitThreads>(source, row, cache);
  }
}

// Does the same, whatever the operand's work is.
template <typename Scheme>
__device__ inline void SplitBlock(const SplitSource& source, uint32_t block, float4* cache) {
  if (!source.scale_rows) {
    if constexpr (!Scheme::kForm.k_major) {
      if (source.strip_cols == kWideStripCols) {
        SplitBlockOf<Scheme, SplitWork::kWideStrips>(source, block, cache);
        return;
      }
    }
    SplitBlockOf<Scheme, SplitWork::kStrips>(source, block, cache);
  } else if (source.cols > kWarpRowCols) {
    SplitBlockOf<Scheme, SplitWork::kRowsOfBlocks>(source, block, cache);
  } else {
    SplitBlockOf<Scheme, SplitWork::kRowsOfWarps>(source, block, cache);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
