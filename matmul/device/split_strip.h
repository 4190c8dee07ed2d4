// Splits operands of which a column as stored has one scale: a strip of columns by a cluster.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"

namespace stridewise {

// Change a word of the same shared variable in another block of the cluster, without waiting.
__device__ inline void StoreInBlock(uint32_t* shared, int rank, uint32_t value) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
                   AddressInBlock(reinterpret_cast<const float*>(shared), rank)),
               "r"(value)
               : "memory");
}
__device__ inline void AddInBlock(uint32_t* shared, int rank, uint32_t value) {
  asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(
                   AddressInBlock(reinterpret_cast<const float*>(shared), rank)),
               "r"(value)
               : "memory");
}

// What a block knows of a strip's columns.
template <int kCols>
struct StripColumns {
  // Bits of the largest absolute value, and counts: of the block,
  uint32_t most[kCols], large[kCols], poor[kCols];
  // and of the cluster: the largest of each block; the sums of the counts in the first block.
  uint32_t large_of_all[kCols], poor_of_all[kCols];
  alignas(16) uint32_t most_of_each[kMostSplitCluster][kCols];

  // Returns the largest of all blocks, of a column and of four neighbours.
  __device__ uint32_t MostOf(int col, int blocks) const {
    uint32_t most = 0;
#pragma unroll 8
    for (int i = 0; i < blocks; ++i) most = max(most, most_of_each[i][col]);
    return most;
  }
  __device__ uint4 MostOfFour(int col, int blocks) const {
    uint4 most = {};
#pragma unroll 8
    for (int i = 0; i < blocks; ++i) {
      const uint4 four = *reinterpret_cast<const uint4*>(&most_of_each[i][col]);
      most = {max(most.x, four.x), max(most.y, four.y), max(most.z, four.z), max(most.w, four.w)};
    }
    return most;
  }
};

// Returns the memory of either, once for all kinds of strips that a kernel has.
__device__ inline void* StripMemory() {
  __shared__ StripColumns<kWideStripCols> columns;
  return &columns;
}

// Returns the rows that each block of a cluster splits.
template <typename Scheme>
STRIDEWISE_HOST_DEVICE inline int RowsOfPart(int rows, int cluster) {
  constexpr int kMultiple = Scheme::kForm.k_major ? kTurnedRows<Scheme> : 1;
  return (rows + cluster * kMultiple - 1) / (cluster * kMultiple) * kMultiple;
}

// Splits a strip of kCols columns by a cluster, whose blocks have a part of the rows each.
template <typename Scheme, bool kWhole, int kCols>
__device__ inline void SplitStrip(const SplitSource& source, int64_t strip, int rank,
                                  float4* cache) {
  static_assert(kCols % 32 == 0, "whole warps arrive");
  constexpr int kStripQuads = kCols / 4;
  constexpr int kPhases = kSplitThreads / kStripQuads;  // Rows at a time.
  auto& columns = *static_cast<StripColumns<kCols>*>(StripMemory());
  const int strips = (source.cols + kCols - 1) / kCols;
  const int64_t matrix = strip / strips;
  const int first_col = static_cast<int>(strip - matrix * strips) * kCols;
  const int part = RowsOfPart<Scheme>(source.rows, source.cluster);
  const int first_row = min(rank * part, source.rows);
  const int rows = min(source.rows - first_row, part);
  constexpr int kTurned = kTurnedRows<Scheme>;
  const int cached = min(rows, source.cached_quads / kStripQuads);
  const float* const from = source.data + matrix * source.stride + first_row * source.ld;
  const int thread = static_cast<int>(threadIdx.x);
  const int quad_of_strip = thread % kStripQuads;
  const int phase = thread / kStripQuads;
  const int col = first_col + 4 * quad_of_strip;
  const auto load = [&](int row) {
    return LoadQuad<kWhole>(from + row * source.ld, col, source.cols);
  };
  // The blocks write to each other's memory when all have begun.
  ArriveAtCluster<false>();
  if (thread < kCols) {
    columns.most[thread] = columns.large[thread] = columns.poor[thread] = 0;
    columns.large_of_all[thread] = columns.poor_of_all[thread] = 0;
  }
  if constexpr (kWhole) {
    for (int i = phase; i < cached; i += kPhases) {
      CopyQuad(from + i * source.ld + col, &cache[i * kStripQuads + quad_of_strip]);
    }
  } else {
    const int of_strip = thread % kCols;
    const bool inside = first_col + of_strip < source.cols;
    for (int i = thread / kCols; i < cached; i += kSplitThreads / kCols) {
      CopyFloat(inside ? from + i * source.ld + first_col + of_strip : from,
                reinterpret_cast<float*>(cache) + i * kCols + of_strip, inside);
    }
    FinishQuads();
  }
  __syncthreads();

  // The largest of each column: of the thread, the block, the cluster.
  uint4 most = {};
  const auto compare = [&](const float4& quad) {
    most = {max(most.x, AbsBits(quad.x)), max(most.y, AbsBits(quad.y)),
            max(most.z, AbsBits(quad.z)), max(most.w, AbsBits(quad.w))};
  };
  int row = phase;
  FinishQuads();
#pragma unroll 1
  for (; row < cached; row += kPhases) compare(cache[row * kStripQuads + quad_of_strip]);
#pragma unroll 2
  for (; row < rows; row += kPhases) compare(load(row));
  atomicMax(&columns.most[4 * quad_of_strip], most.x);
  atomicMax(&columns.most[4 * quad_of_strip + 1], most.y);
  atomicMax(&columns.most[4 * quad_of_strip + 2], most.z);
  atomicMax(&columns.most[4 * quad_of_strip + 3], most.w);
  __syncthreads();
  WaitForCluster();
  for (int i = thread; i < source.cluster * kCols; i += kSplitThreads) {
    const int column = i % kCols;
    StoreInBlock(&columns.most_of_each[rank][column], i / kCols, columns.most[column]);
  }
  SyncCluster();

  const uint4 most_of_all = columns.MostOfFour(4 * quad_of_strip, source.cluster);
  const float4 scales = {PowerFor<Scheme>(most_of_all.x), PowerFor<Scheme>(most_of_all.y),
                         PowerFor<Scheme>(most_of_all.z), PowerFor<Scheme>(most_of_all.w)};
  const auto count = [&](int i, int large, int poor) {
    atomicAdd(&columns.large[4 * quad_of_strip + i], large);
    if (poor > 0) atomicAdd(&columns.poor[4 * quad_of_strip + i], poor);
  };
  if constexpr (Scheme::kForm.k_major) {
    const int64_t first_out = (matrix * source.cols + col) * source.out_ld + first_row;
    typename Scheme::Counts counts[4];
#pragma unroll 1
    for (row = kTurned * phase; row < rows; row += kTurned * kPhases) {
      float of_col[4][kTurned];
#pragma unroll
      for (int i = 0; i < kTurned; ++i) {
        float4 quad = {};
        if (row + i < cached) {
          quad = cache[(row + i) * kStripQuads + quad_of_strip];
        } else if (row + i < rows) {
          quad = load(row + i);
        }
        of_col[0][i] = quad.x;
        of_col[1][i] = quad.y;
        of_col[2][i] = quad.z;
        of_col[3][i] = quad.w;
      }
      const float scale_of_col[4] = {scales.x, scales.y, scales.z, scales.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (!kWhole && col + i >= source.cols) break;
        SplitAndStoreTurned<Scheme>(source, first_out + i * int64_t{source.out_ld} + row, of_col[i],
                                    scale_of_col[i], &counts[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      count(i, counts[i].LargeX() + counts[i].LargeY(), counts[i].PoorX() + counts[i].PoorY());
    }
  } else {
    const int64_t first_out = (matrix * source.rows + first_row) * source.out_ld + col;
    typename Scheme::Counts xy, zw;
    const auto split = [&](int i, const float4& quad) {
      if (!kWhole && col >= source.out_ld) return;
      SplitAndStore<Scheme>(source, first_out + static_cast<int64_t>(i) * source.out_ld, quad,
                            scales, &xy, &zw);
    };
    row = phase;
#pragma unroll 1
    for (; row < cached; row += kPhases) split(row, cache[row * kStripQuads + quad_of_strip]);
#pragma unroll 1
    for (; row < rows; row += kPhases) split(row, load(row));
    count(0, xy.LargeX(), xy.PoorX());
    count(1, xy.LargeY(), xy.PoorY());
    count(2, zw.LargeX(), zw.PoorX());
    count(3, zw.LargeY(), zw.PoorY());
  }
  __syncthreads();
  // These warps' counts have to arrive, and nothing else.
  if (thread < kCols) {
    AddInBlock(&columns.large_of_all[thread], 0, columns.large[thread]);
    AddInBlock(&columns.poor_of_all[thread], 0, columns.poor[thread]);
    ArriveAtCluster<true>();
  } else {
    ArriveAtCluster<false>();
  }
  if (rank != 0) return;  // Nobody looks into this block any more.
  WaitForCluster();
  if (thread < kCols && first_col + thread < source.cols) {
    source.scales[matrix * source.cols + first_col + thread] = SplitScaleFrom<Scheme>(
        columns.MostOf(thread, source.cluster), static_cast<int>(columns.large_of_all[thread]),
        static_cast<int>(columns.poor_of_all[thread]), source.rows);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_
