// Splits operands of which a column as stored has one scale: a strip of columns by a cluster.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"

namespace stridewise {

// Returns the address of what lies at `shared` in another block of the cluster.
__device__ inline uint32_t WordInBlock(const void* shared, int rank) {
  return AddressInBlock(static_cast<const float*>(shared), rank);
}
// Change a word in another block of the cluster, without waiting. Its bytes count for the current
// phase of `barrier` there: a barrier of the cluster instead waits until all stores of its threads,
// those of parts too, have arrived in the L2. REQUIRES: a cluster of two blocks or more, as these
// are illegal instructions for a block that is alone.
__device__ inline void SendToBlock(const uint32_t* shared, int rank, uint32_t value,
                                   const Mbarrier& barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                   WordInBlock(shared, rank)),
               "r"(value), "r"(WordInBlock(&barrier, rank))
               : "memory");
}
__device__ inline void AddInBlock(const uint32_t* shared, int rank, uint32_t value,
                                  const Mbarrier& barrier) {
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
      "[%0], %1, [%2];" ::"r"(WordInBlock(shared, rank)),
      "r"(value), "r"(WordInBlock(&barrier, rank))
      : "memory");
}

// What a block knows of a strip's columns.
template <int kCols>
struct StripColumns {
  // Bits of the largest absolute value, and counts: of the block,
  alignas(16) uint32_t most[kCols];
  uint32_t large[kCols], poor[kCols];
  // and of the cluster: the largest, and of each other block; in the first block the sums of the
  // counts of the others.
  alignas(16) uint32_t most_of_all[kCols];
  alignas(16) uint32_t most_of_each[kMostSplitCluster][kCols];
  uint32_t large_of_others[kCols], poor_of_others[kCols];
  // Words of other blocks that came: the largest ones, and in the first block the counts.
  Mbarrier most_came, counts_came;

  // Returns the largest of all blocks, of four neighbours. This one's
  // is a zero in the table.
  __device__ uint4 MostOfFour(int col, int blocks) const {
    uint4 most = *reinterpret_cast<const uint4*>(&this->most[col]);
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
// Instructions arrive from a cold L2: those before the first copies are few, without divisions of
// 64 bits, whose code lies elsewhere.
template <typename Scheme, int kCols>
__device__ inline void SplitStrip(const SplitSource& source, uint32_t block, float4* cache) {
  static_assert(kCols % 32 == 0, "whole warps arrive");
  constexpr int kStripQuads = kCols / 4;
  constexpr int kPhases = kSplitThreads / kStripQuads;  // Rows at a time.
  auto& columns = *static_cast<StripColumns<kCols>*>(StripMemory());
  const uint32_t strip_of_all = block / static_cast<uint32_t>(source.cluster);
  const int rank = static_cast<int>(block - strip_of_all * source.cluster);
  const uint32_t matrix = source.count > 1 ? strip_of_all / source.strips : 0;
  const int first_col = static_cast<int>(strip_of_all - matrix * source.strips) * kCols;
  const int first_row = min(rank * source.part_rows, source.rows);
  const int rows = min(source.rows - first_row, source.part_rows);
  const int cached = min(rows, source.cached_quads / kStripQuads);
  const float* const from = source.data + matrix * source.stride + first_row * source.ld;
  const bool whole = source.vectors && first_col + kCols <= source.cols;
  // Unsigned, which are divided by powers of two in one instruction.
  const int thread = static_cast<int>(threadIdx.x);
  const int quad_of_strip = static_cast<int>(threadIdx.x % kStripQuads);
  const int phase = static_cast<int>(threadIdx.x / kStripQuads);
  const int col = first_col + 4 * quad_of_strip;
  if (whole) {
    const float* next = from + phase * source.ld + col;
    const int64_t step = kPhases * source.ld;
#pragma unroll 1
    for (int i = phase; i < cached; i += kPhases, next += step) {
      CopyQuad(next, &cache[i * kStripQuads + quad_of_strip]);
    }
  } else {
    const int of_strip = static_cast<int>(threadIdx.x % kCols);
    const int first = static_cast<int>(threadIdx.x / kCols);
    const bool inside = first_col + of_strip < source.cols;
    const float* next = from + first * source.ld + (inside ? first_col + of_strip : 0);
    const int64_t step = kSplitThreads / kCols * source.ld;
#pragma unroll 1
    for (int i = first; i < cached; i += kSplitThreads / kCols, next += step) {
      CopyFloat(next, reinterpret_cast<float*>(cache) + i * kCols + of_strip, inside);
    }
  }
  // The blocks write to each other's memory when all have begun.
  const int others = source.cluster - 1;
  if (thread == 0) {
    columns.most_came.Init(1);
    columns.counts_came.Init(1);
    Mbarrier::InitDone();
    columns.most_came.ArriveExpecting(4 * kCols * others);
    if (rank == 0) columns.counts_came.ArriveExpecting(2 * 4 * kCols * others);
  }
  __syncwarp();  // The whole warp arrives.
  ArriveAtCluster<false>();
  if (thread < kCols) {
    columns.most[thread] = columns.large[thread] = columns.poor[thread] = 0;
    columns.most_of_each[rank][thread] = 0;
    columns.large_of_others[thread] = columns.poor_of_others[thread] = 0;
  }
  const auto quad_of = [&](int row) {
    if (row < cached) return cache[row * kStripQuads + quad_of_strip];
    return LoadQuad(from + row * source.ld, col, source.cols, whole);
  };
  if (!whole) FinishQuads();  // Threads read what others copied.
  __syncthreads();

  // The largest of each column: of the thread, the block, the cluster.
  uint4 most = {};
  const auto compare = [&](const float4& quad) {
    most = {max(most.x, AbsBits(quad.x)), max(most.y, AbsBits(quad.y)),
            max(most.z, AbsBits(quad.z)), max(most.w, AbsBits(quad.w))};
  };
  FinishQuads();
  int row = phase;
#pragma unroll 1
  for (; row < cached; row += kPhases) compare(cache[row * kStripQuads + quad_of_strip]);
#pragma unroll 1
  for (; row < rows; row += kPhases) compare(quad_of(row));
  atomicMax(&columns.most[4 * quad_of_strip], most.x);
  atomicMax(&columns.most[4 * quad_of_strip + 1], most.y);
  atomicMax(&columns.most[4 * quad_of_strip + 2], most.z);
  atomicMax(&columns.most[4 * quad_of_strip + 3], most.w);
  __syncthreads();
  WaitForCluster();
  const int column = static_cast<int>(threadIdx.x % kCols);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x / kCols); i < source.cluster;
       i += kSplitThreads / kCols) {
    if (i == rank) continue;
    SendToBlock(&columns.most_of_each[rank][column], i, columns.most[column], columns.most_came);
  }
  columns.most_came.Wait(0);

  const uint4 most_of_all = columns.MostOfFour(4 * quad_of_strip, source.cluster);
  if (phase == 0) *reinterpret_cast<uint4*>(&columns.most_of_all[4 * quad_of_strip]) = most_of_all;
  const float4 scales = {PowerFor<Scheme>(most_of_all.x), PowerFor<Scheme>(most_of_all.y),
                         PowerFor<Scheme>(most_of_all.z), PowerFor<Scheme>(most_of_all.w)};
  const auto count = [&](int i, int large, int poor) {
    atomicAdd(&columns.large[4 * quad_of_strip + i], large);
    if (poor > 0) atomicAdd(&columns.poor[4 * quad_of_strip + i], poor);
  };
  if constexpr (Scheme::kForm.k_major) {
    constexpr int kTurned = kTurnedRows<Scheme>;
    const int64_t first_out =
        (static_cast<int64_t>(matrix) * source.cols + col) * source.out_ld + first_row;
    typename Scheme::Counts counts[4];
#pragma unroll 1
    for (row = kTurned * phase; row < rows; row += kTurned * kPhases) {
      float of_col[4][kTurned];
#pragma unroll
      for (int i = 0; i < kTurned; ++i) {
        const float4 quad = row + i < rows ? quad_of(row + i) : float4{};
        of_col[0][i] = quad.x;
        of_col[1][i] = quad.y;
        of_col[2][i] = quad.z;
        of_col[3][i] = quad.w;
      }
      const float scale_of_col[4] = {scales.x, scales.y, scales.z, scales.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (col + i >= source.cols) break;
        SplitAndStoreTurned<Scheme>(source, first_out + i * int64_t{source.out_ld} + row, of_col[i],
                                    scale_of_col[i], &counts[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      count(i, counts[i].LargeX() + counts[i].LargeY(), counts[i].PoorX() + counts[i].PoorY());
    }
  } else {
    typename Scheme::Counts xy, zw;
    if (col < source.out_ld) {
      int64_t at = (static_cast<int64_t>(matrix) * source.rows + first_row + phase) *
                       static_cast<int64_t>(source.out_ld) +
                   col;
      const int64_t step = kPhases * static_cast<int64_t>(source.out_ld);
#pragma unroll 1
      for (row = phase; row < rows; row += kPhases, at += step) {
        SplitAndStore<Scheme>(source, at, quad_of(row), scales, &xy, &zw);
      }
    }
    count(0, xy.LargeX(), xy.PoorX());
    count(1, xy.LargeY(), xy.PoorY());
    count(2, zw.LargeX(), zw.PoorX());
    count(3, zw.LargeY(), zw.PoorY());
  }
  __syncthreads();
  if (rank != 0) {
    if (thread < kCols) {
      AddInBlock(&columns.large_of_others[thread], 0, columns.large[thread], columns.counts_came);
      AddInBlock(&columns.poor_of_others[thread], 0, columns.poor[thread], columns.counts_came);
    }
    return;  // Nobody looks into this block any more.
  }
  columns.counts_came.Wait(0);
  if (thread < kCols && first_col + thread < source.cols) {
    source.scales[static_cast<int64_t>(matrix) * source.cols + first_col + thread] =
        SplitScaleFrom<Scheme>(
            columns.most_of_all[thread],
            static_cast<int>(columns.large[thread] + columns.large_of_others[thread]),
            static_cast<int>(columns.poor[thread] + columns.poor_of_others[thread]), source.rows);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_STRIP_H_
