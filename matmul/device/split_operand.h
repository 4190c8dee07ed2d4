// Splits FP32 operands into pairs of FP16 matrices, and tells for which sums of products the pairs
// are good enough.
//
// Each row of op(A) and each column of op(B) is first scaled by a power of two that takes its
// largest element into [2^14, 2^15). An element x of it becomes hi + lo, hi the nearest FP16 number
// and lo the one nearest to the rest. Then |x - hi - lo| is at most 2^-23 |x|, but not less than
// 2^-25 where FP16 runs out of exponents: at 2^-16 of the largest element and below.
// docs/fp32_split.md has the bound of the products, and why the counts of SplitScale suffice.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_

#include <cuda_fp16.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"

namespace stridewise {

constexpr int kSplitThreads = 256;
constexpr int kSplitWarps = kSplitThreads / 32;
// Blocks that divide the k of a strip of columns among them, and the columns of a strip.
constexpr int kSplitCluster = 8;
constexpr int kStripCols = 32;
constexpr int kStripQuads = kStripCols / 4;
// Rows of at most this many elements have a warp each, longer ones a block.
constexpr int kWarpRowCols = 1024;

// The largest element of a scaled row or column lies in [2^kSplitExponent, twice that).
constexpr int kSplitExponent = 14;
// Elements from here on, as scaled, count as large.
constexpr float kLargeElement = 16;
// Below this, as scaled, lo may lack the bits for a relative error of 2^-22.
constexpr float kSmallElement = 0.125f;
// The largest element's exponents that the scaling takes: no scaled sum of 2^24 products, and no
// power of two on the way back, leaves the range of FP32.
constexpr int kMostSplitExponent = 80;

// What is known of a row of op(A) or a column of op(B), in a word that a kernel copies to shared
// memory: the inverse of its power of two, and its range,
//   2 * (2 * large - 16 * poor - k) + (poor > 0),
// from the number of large elements and of those whose pair is off by more than 2^-22 of them.
// Pairs are good enough for a product of a row and a column if neither has a poor element, or the
// sum of their ranges is not negative.
using SplitScale = uint32_t;

// The range of what is infinite, NaN or beyond kMostSplitExponent: no product may use its pairs.
constexpr int kNoSplit = -(1 << 22) + 1;

__device__ inline SplitScale PackSplitScale(float inverse, int range) {
  return __float_as_uint(inverse) << 1 | (static_cast<uint32_t>(max(range, kNoSplit)) & 0xffffff);
}
__device__ inline float InverseOf(SplitScale scale) {
  return __uint_as_float(scale >> 1 & 0x7f800000);
}
__device__ inline int RangeOf(SplitScale scale) { return static_cast<int>(scale << 8) >> 8; }

// An operand as it is stored, its pairs, and the blocks that split it.
struct SplitSource {
  const float* data;
  int64_t ld, stride;
  int rows, cols;   // As stored.
  int count;        // Matrices of the batch that differ.
  bool scale_rows;  // A row as stored has one scale, else a column.
  bool vectors;     // All rows begin at multiples of 16 bytes.
  __half* hi;       // count x rows x out_ld, no gaps.
  __half* lo;
  int out_ld;  // A multiple of 8.
  SplitScale* scales;
  int cached_quads;  // Of a row, or of a block's part of a strip, that shared memory holds.
  int64_t blocks;    // A multiple of kSplitCluster.
};

// Counts of a thread's elements: of the first of each pair, and of the second.
struct SplitCounts {
  int poor_x = 0, poor_y = 0;
  __half2 large = __half2(0, 0);  // Exact up to 2048.

  __device__ int LargeX() const { return static_cast<int>(__low2float(large)); }
  __device__ int LargeY() const { return static_cast<int>(__high2float(large)); }
};

// Returns four neighbours of a row, with zeros beyond its end. kWhole: none is beyond it, and the
// row begins at a multiple of 16 bytes.
template <bool kWhole>
__device__ inline float4 LoadQuad(const float* row, int col, int cols) {
  if constexpr (kWhole) return __ldg(reinterpret_cast<const float4*>(row + col));
  float4 quad = {};
  if (col < cols) quad.x = row[col];
  if (col + 1 < cols) quad.y = row[col + 1];
  if (col + 2 < cols) quad.z = row[col + 2];
  if (col + 3 < cols) quad.w = row[col + 3];
  return quad;
}

// Starts the copy of four neighbours to shared memory. The thread that reads them calls
// FinishQuads() before. Copies need no registers, so that all of a block's are under way at once.
__device__ inline void CopyQuad(const float* from, float4* to) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
}
__device__ inline void FinishQuads() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Returns the bits of |x|, which are ordered as the absolute values are, NaN last.
__device__ inline uint32_t AbsBits(float x) { return __float_as_uint(x) & 0x7fffffff; }

__device__ inline uint32_t MaxAbsBits(uint32_t most, const float4& quad) {
  return max(max(max(most, AbsBits(quad.x)), AbsBits(quad.y)),
             max(AbsBits(quad.z), AbsBits(quad.w)));
}

// Returns the power of two that takes a number with these bits into [2^14, 2^15), or near it where
// its exponent is out of range.
__device__ inline float PowerFor(uint32_t abs_bits) {
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  const int clamped = min(max(exponent, -kMostSplitExponent), kMostSplitExponent);
  return __uint_as_float(static_cast<uint32_t>(kSplitExponent - clamped + 127) << 23);
}

// Makes the entry from the bits of the largest absolute value and the counts.
__device__ inline SplitScale SplitScaleFrom(uint32_t abs_bits, int large, int poor, int k) {
  const float inverse = 1 / PowerFor(abs_bits);              // Exact.
  if (abs_bits == 0) return PackSplitScale(inverse, 2 * k);  // All products are zero, exactly.
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  if (abs(exponent) > kMostSplitExponent) return PackSplitScale(inverse, kNoSplit);
  const int balance = max(2 * large - 16 * poor - k, kNoSplit / 2);
  return PackSplitScale(inverse, 2 * balance + (poor > 0 ? 1 : 0));
}

// Splits two elements, which are scaled.
__device__ inline void SplitPair(float x, float y, __half2* hi, __half2* lo, SplitCounts* counts) {
  const __half2 high = __floats2half2_rn(x, y);
  const float2 back = __half22float2(high);
  const float2 rest = {x - back.x, y - back.y};  // Exact.
  const __half2 low = __floats2half2_rn(rest.x, rest.y);
  const __half2 size = __habs2(high);
  counts->large = __hadd2(counts->large, __hge2(size, __float2half2_rn(kLargeElement)));
  if (!__hbge2(size, __float2half2_rn(kSmallElement))) {
    const float2 kept = __half22float2(low);
    counts->poor_x += fabsf(rest.x - kept.x) > 0x1p-22f * fabsf(x) ? 1 : 0;
    counts->poor_y += fabsf(rest.y - kept.y) > 0x1p-22f * fabsf(y) ? 1 : 0;
  }
  *hi = high;
  *lo = low;
}

// Two pairs, as they are stored.
struct alignas(8) HalfQuad {
  __half2 xy, zw;
};

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
template <int kThreads, bool kWhole>
__device__ inline void SplitRow(const SplitSource& source, int64_t row, float4* cache) {
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int64_t matrix = row / source.rows;
  const float* const from =
      source.data + matrix * source.stride + (row - matrix * source.rows) * source.ld;
  const int quads = (source.cols + 3) / 4;
  const int cached = min(quads, source.cached_quads);
  const auto load = [&](int q) { return LoadQuad<kWhole>(from, 4 * q, source.cols); };
  for (int q = thread; q < cached; q += kThreads) {
    if constexpr (kWhole) {
      CopyQuad(from + 4 * q, &cache[q]);
    } else {
      cache[q] = load(q);
    }
  }
  FinishQuads();
  uint32_t most = 0;
  int q = thread;
#pragma unroll 4
  for (; q < cached; q += kThreads) most = MaxAbsBits(most, cache[q]);
#pragma unroll 4
  for (; q < quads; q += kThreads) most = MaxAbsBits(most, load(q));
  __shared__ uint32_t of_warps[3][kSplitWarps];
  most = ReduceMax<kThreads>(most, of_warps[0]);
  const float scale = PowerFor(most);
  HalfQuad* const hi = reinterpret_cast<HalfQuad*>(source.hi + row * source.out_ld);
  HalfQuad* const lo = reinterpret_cast<HalfQuad*>(source.lo + row * source.out_ld);
  SplitCounts counts;
  const auto split = [&](int i, const float4& quad) {
    HalfQuad high, low;
    SplitPair(quad.x * scale, quad.y * scale, &high.xy, &low.xy, &counts);
    SplitPair(quad.z * scale, quad.w * scale, &high.zw, &low.zw, &counts);
    hi[i] = high;
    lo[i] = low;
  };
  q = thread;
#pragma unroll 4
  for (; q < cached; q += kThreads) split(q, cache[q]);
#pragma unroll 4
  for (; q < quads; q += kThreads) split(q, load(q));
  const uint32_t large = ReduceSum<kThreads>(counts.LargeX() + counts.LargeY(), of_warps[1]);
  const uint32_t poor = ReduceSum<kThreads>(counts.poor_x + counts.poor_y, of_warps[2]);
  if (thread == 0) {
    source.scales[row] =
        SplitScaleFrom(most, static_cast<int>(large), static_cast<int>(poor), source.cols);
  }
}

// Change a word of the same shared variable in another block of the cluster, without waiting.
__device__ inline void MaxInBlock(uint32_t* shared, int rank, uint32_t value) {
  asm volatile("red.shared::cluster.max.u32 [%0], %1;" ::"r"(
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
struct StripColumns {
  // Bits of the largest absolute value, and counts: of the block, and of the cluster. The cluster's
  // counts are those of its first block.
  uint32_t most[kStripCols], large[kStripCols], poor[kStripCols];
  uint32_t most_of_all[kStripCols], large_of_all[kStripCols], poor_of_all[kStripCols];
};

// Splits a strip of kStripCols columns by a cluster, whose blocks have a part of the rows each.
template <bool kWhole>
__device__ inline void SplitStrip(const SplitSource& source, int64_t strip, int rank,
                                  float4* cache) {
  constexpr int kPhases = kSplitThreads / kStripQuads;  // Rows at a time.
  __shared__ StripColumns columns;
  const int strips = (source.cols + kStripCols - 1) / kStripCols;
  const int64_t matrix = strip / strips;
  const int first_col = static_cast<int>(strip - matrix * strips) * kStripCols;
  const int part = (source.rows + kSplitCluster - 1) / kSplitCluster;
  const int first_row = min(rank * part, source.rows);
  const int rows = min(source.rows - first_row, part);
  const int cached = min(rows, source.cached_quads / kStripQuads);
  const float* const from = source.data + matrix * source.stride + first_row * source.ld;
  const int thread = static_cast<int>(threadIdx.x);
  const int quad_of_strip = thread % kStripQuads;
  const int phase = thread / kStripQuads;
  const int col = first_col + 4 * quad_of_strip;
  const auto load = [&](int row) {
    return LoadQuad<kWhole>(from + row * source.ld, col, source.cols);
  };
  for (int i = thread; i < static_cast<int>(sizeof(columns) / 4); i += kSplitThreads) {
    reinterpret_cast<uint32_t*>(&columns)[i] = 0;
  }
  for (int i = phase; i < cached; i += kPhases) {
    float4* const to = &cache[i * kStripQuads + quad_of_strip];
    if constexpr (kWhole) {
      CopyQuad(from + i * source.ld + col, to);
    } else {
      *to = load(i);
    }
  }
  SyncCluster();  // All blocks have begun, and their columns are zero.

  // The largest of each column: of the thread, the block, the cluster.
  uint4 most = {};
  const auto compare = [&](const float4& quad) {
    most = {max(most.x, AbsBits(quad.x)), max(most.y, AbsBits(quad.y)),
            max(most.z, AbsBits(quad.z)), max(most.w, AbsBits(quad.w))};
  };
  int row = phase;
  FinishQuads();
#pragma unroll 4
  for (; row < cached; row += kPhases) compare(cache[row * kStripQuads + quad_of_strip]);
#pragma unroll 8
  for (; row < rows; row += kPhases) compare(load(row));
  atomicMax(&columns.most[4 * quad_of_strip], most.x);
  atomicMax(&columns.most[4 * quad_of_strip + 1], most.y);
  atomicMax(&columns.most[4 * quad_of_strip + 2], most.z);
  atomicMax(&columns.most[4 * quad_of_strip + 3], most.w);
  __syncthreads();
  for (int i = thread; i < kSplitCluster * kStripCols; i += kSplitThreads) {
    const int column = i % kStripCols;
    MaxInBlock(&columns.most_of_all[column], i / kStripCols, columns.most[column]);
  }
  SyncCluster();

  float scale[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) scale[i] = PowerFor(columns.most_of_all[4 * quad_of_strip + i]);
  const int64_t first_out = (matrix * source.rows + first_row) * source.out_ld + col;
  SplitCounts xy, zw;
  const auto split = [&](int i, const float4& quad) {
    HalfQuad high, low;
    SplitPair(quad.x * scale[0], quad.y * scale[1], &high.xy, &low.xy, &xy);
    SplitPair(quad.z * scale[2], quad.w * scale[3], &high.zw, &low.zw, &zw);
    const int64_t out = first_out + static_cast<int64_t>(i) * source.out_ld;
    if (kWhole || col < source.out_ld) {
      *reinterpret_cast<HalfQuad*>(source.hi + out) = high;
      *reinterpret_cast<HalfQuad*>(source.lo + out) = low;
    }
  };
  row = phase;
#pragma unroll 4
  for (; row < cached; row += kPhases) split(row, cache[row * kStripQuads + quad_of_strip]);
#pragma unroll 4
  for (; row < rows; row += kPhases) split(row, load(row));
  const auto count = [&](int i, int large, int poor) {
    atomicAdd(&columns.large[4 * quad_of_strip + i], large);
    if (poor > 0) atomicAdd(&columns.poor[4 * quad_of_strip + i], poor);
  };
  count(0, xy.LargeX(), xy.poor_x);
  count(1, xy.LargeY(), xy.poor_y);
  count(2, zw.LargeX(), zw.poor_x);
  count(3, zw.LargeY(), zw.poor_y);
  __syncthreads();
  if (thread < kStripCols) {
    AddInBlock(&columns.large_of_all[thread], 0, columns.large[thread]);
    AddInBlock(&columns.poor_of_all[thread], 0, columns.poor[thread]);
  }
  SyncCluster();
  if (rank == 0 && thread < kStripCols && first_col + thread < source.cols) {
    source.scales[matrix * source.cols + first_col + thread] =
        SplitScaleFrom(columns.most_of_all[thread], static_cast<int>(columns.large_of_all[thread]),
                       static_cast<int>(columns.poor_of_all[thread]), source.rows);
  }
}

// Returns whether all fours that the block loads lie inside, at multiples of 16 bytes.
__device__ inline bool LoadsWholeQuads(const SplitSource& source, int64_t block) {
  if (!source.vectors) return false;
  if (source.scale_rows) return source.cols % 4 == 0;
  const int strips = (source.cols + kStripCols - 1) / kStripCols;
  return block / kSplitCluster % strips < source.cols / kStripCols;
}

// Splits what is the block's: a part of a strip, a row, or a row for each warp.
template <bool kWhole>
__device__ inline void SplitBlock(const SplitSource& source, int64_t block, float4* cache) {
  const int64_t rows = static_cast<int64_t>(source.count) * source.rows;
  if (!source.scale_rows) {
    SplitStrip<kWhole>(source, block / kSplitCluster, static_cast<int>(block % kSplitCluster),
                       cache);
  } else if (source.cols > kWarpRowCols) {
    if (block < rows) SplitRow<kSplitThreads, kWhole>(source, block, cache);
  } else {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int64_t row = block * kSplitWarps + warp;
    if (row < rows) SplitRow<32, kWhole>(source, row, cache + warp * source.cached_quads);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
