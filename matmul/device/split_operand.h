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
constexpr int kStripCols = 64;
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

// What is known of a row of op(A) or a column of op(B).
struct SplitScale {
  float inverse;  // Of the power of two.
  // 2 * (2 * large - 16 * poor - k) + (poor > 0): the number of large elements, and of elements
  // whose pair is off by more than 2^-22 of them. See SplitRange.
  int range;
};

// Infinite, NaN or out of range: no product of it may use the pairs.
constexpr int kNoSplit = -(1 << 30) + 1;

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

// Returns four neighbours of a row, with zeros beyond its end.
__device__ inline float4 LoadQuad(const SplitSource& source, const float* row, int col) {
  if (source.vectors && col + 4 <= source.cols) return *reinterpret_cast<const float4*>(row + col);
  float4 quad = {};
  if (col < source.cols) quad.x = row[col];
  if (col + 1 < source.cols) quad.y = row[col + 1];
  if (col + 2 < source.cols) quad.z = row[col + 2];
  if (col + 3 < source.cols) quad.w = row[col + 3];
  return quad;
}

// Returns the bits of |x|, which are ordered as the absolute values are, NaN last.
__device__ inline uint32_t AbsBits(float x) { return __float_as_uint(x) & 0x7fffffff; }

__device__ inline uint32_t MaxAbsBits(uint32_t most, const float4& quad) {
  return max(max(max(most, AbsBits(quad.x)), AbsBits(quad.y)),
             max(AbsBits(quad.z), AbsBits(quad.w)));
}

// Returns the power of two that takes a number with these bits into [2^14, 2^15), or near it where
// its exponent is out of range.
__device__ inline float SplitScaleOf(uint32_t abs_bits) {
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  const int clamped = min(max(exponent, -kMostSplitExponent), kMostSplitExponent);
  return __uint_as_float(static_cast<uint32_t>(kSplitExponent - clamped + 127) << 23);
}

// Makes the entry from the bits of the largest absolute value and the counts.
__device__ inline SplitScale MakeSplitScale(uint32_t abs_bits, int large, int poor, int k) {
  const float inverse = 1 / SplitScaleOf(abs_bits);  // Exact.
  if (abs_bits == 0) return {inverse, 2 * k};        // All products are zero, exactly.
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  if (abs(exponent) > kMostSplitExponent) return {inverse, kNoSplit};
  return {inverse, 2 * (2 * large - 16 * poor - k) + (poor > 0 ? 1 : 0)};
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

// Returns the sum, or the maximum, over the warp, in all lanes.
__device__ inline int WarpSum(int value) { return __reduce_add_sync(~0u, value); }
__device__ inline uint32_t WarpMax(uint32_t value) { return __reduce_max_sync(~0u, value); }

// Splits one row by kThreads threads: a warp or the block. `cache` is theirs.
template <int kThreads>
__device__ inline void SplitRow(const SplitSource& source, int64_t row, float4* cache) {
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int64_t matrix = row / source.rows;
  const float* const from =
      source.data + matrix * source.stride + (row - matrix * source.rows) * source.ld;
  const int quads = (source.cols + 3) / 4;
  uint32_t most = 0;
#pragma unroll 4
  for (int q = thread; q < quads; q += kThreads) {
    const float4 quad = LoadQuad(source, from, 4 * q);
    if (q < source.cached_quads) cache[q] = quad;
    most = MaxAbsBits(most, quad);
  }
  __shared__ uint32_t of_warps[kSplitWarps];
  __shared__ int counted[2][kSplitWarps];
  most = WarpMax(most);
  if constexpr (kThreads > 32) {
    if (thread % 32 == 0) of_warps[thread / 32] = most;
    __syncthreads();
    for (int i = 0; i < kSplitWarps; ++i) most = max(most, of_warps[i]);
  }
  const float scale = SplitScaleOf(most);
  HalfQuad* const hi = reinterpret_cast<HalfQuad*>(source.hi + row * source.out_ld);
  HalfQuad* const lo = reinterpret_cast<HalfQuad*>(source.lo + row * source.out_ld);
  SplitCounts counts;
#pragma unroll 4
  for (int q = thread; q < quads; q += kThreads) {
    const float4 quad = q < source.cached_quads ? cache[q] : LoadQuad(source, from, 4 * q);
    HalfQuad high, low;
    SplitPair(quad.x * scale, quad.y * scale, &high.xy, &low.xy, &counts);
    SplitPair(quad.z * scale, quad.w * scale, &high.zw, &low.zw, &counts);
    hi[q] = high;
    lo[q] = low;
  }
  int large = WarpSum(counts.LargeX() + counts.LargeY());
  int poor = WarpSum(counts.poor_x + counts.poor_y);
  if constexpr (kThreads > 32) {
    if (thread % 32 == 0) {
      counted[0][thread / 32] = large;
      counted[1][thread / 32] = poor;
    }
    __syncthreads();
    large = poor = 0;
    for (int i = 0; i < kSplitWarps; ++i) {
      large += counted[0][i];
      poor += counted[1][i];
    }
  }
  if (thread == 0) source.scales[row] = MakeSplitScale(most, large, poor, source.cols);
}

// Returns a word of the same shared variable in another block of the cluster.
__device__ inline uint32_t LoadWordFromBlock(const uint32_t* shared, int rank) {
  return __float_as_uint(LoadFromBlock(reinterpret_cast<const float*>(shared), rank));
}

// Splits a strip of kStripCols columns by a cluster, whose blocks have a part of the rows each.
__device__ inline void SplitStrip(const SplitSource& source, int64_t strip, int rank,
                                  float4* cache) {
  constexpr int kPhases = kSplitThreads / kStripQuads;  // Rows at a time.
  const int strips = (source.cols + kStripCols - 1) / kStripCols;
  const int64_t matrix = strip / strips;
  const int first_col = static_cast<int>(strip - matrix * strips) * kStripCols;
  const int part = (source.rows + kSplitCluster - 1) / kSplitCluster;
  const int first_row = min(rank * part, source.rows);
  const int rows = min(source.rows - first_row, part);
  const float* const from = source.data + matrix * source.stride + first_row * source.ld;
  const int thread = static_cast<int>(threadIdx.x);
  const int quad_of_strip = thread % kStripQuads;
  const int phase = thread / kStripQuads;
  const int col = first_col + 4 * quad_of_strip;
  const auto load = [&](int row) { return LoadQuad(source, from + row * source.ld, col); };

  // The largest of each column: of the thread, the block, the cluster.
  uint4 most = {};
#pragma unroll 8
  for (int row = phase; row < rows; row += kPhases) {
    const float4 quad = load(row);
    const int cached = row * kStripQuads + quad_of_strip;
    if (cached < source.cached_quads) cache[cached] = quad;
    most = {max(most.x, AbsBits(quad.x)), max(most.y, AbsBits(quad.y)),
            max(most.z, AbsBits(quad.z)), max(most.w, AbsBits(quad.w))};
  }
  __shared__ uint32_t of_block[kStripCols];
  __shared__ alignas(16) float scales[kStripCols];
  __shared__ uint32_t largest[kStripCols];
  __shared__ uint32_t large[kStripCols];
  __shared__ uint32_t poor[kStripCols];
  if (thread < kStripCols) of_block[thread] = large[thread] = poor[thread] = 0;
  __syncthreads();
  atomicMax(&of_block[4 * quad_of_strip], most.x);
  atomicMax(&of_block[4 * quad_of_strip + 1], most.y);
  atomicMax(&of_block[4 * quad_of_strip + 2], most.z);
  atomicMax(&of_block[4 * quad_of_strip + 3], most.w);
  SyncCluster();
  if (thread < kStripCols) {
    uint32_t of_cluster = 0;
    for (int i = 0; i < kSplitCluster; ++i) {
      of_cluster = max(of_cluster, LoadWordFromBlock(&of_block[thread], i));
    }
    largest[thread] = of_cluster;
    scales[thread] = SplitScaleOf(of_cluster);
  }
  __syncthreads();

  const float4 scale = *reinterpret_cast<const float4*>(&scales[4 * quad_of_strip]);
  const int64_t first_out = (matrix * source.rows + first_row) * source.out_ld + col;
  SplitCounts xy, zw;
#pragma unroll 4
  for (int row = phase; row < rows; row += kPhases) {
    const int cached = row * kStripQuads + quad_of_strip;
    const float4 quad = cached < source.cached_quads ? cache[cached] : load(row);
    HalfQuad high, low;
    SplitPair(quad.x * scale.x, quad.y * scale.y, &high.xy, &low.xy, &xy);
    SplitPair(quad.z * scale.z, quad.w * scale.w, &high.zw, &low.zw, &zw);
    if (col >= source.out_ld) continue;
    const int64_t out = first_out + static_cast<int64_t>(row) * source.out_ld;
    *reinterpret_cast<HalfQuad*>(source.hi + out) = high;
    *reinterpret_cast<HalfQuad*>(source.lo + out) = low;
  }
  const auto count = [&](int i, int large_of_thread, int poor_of_thread) {
    atomicAdd(&large[4 * quad_of_strip + i], large_of_thread);
    if (poor_of_thread > 0) atomicAdd(&poor[4 * quad_of_strip + i], poor_of_thread);
  };
  count(0, xy.LargeX(), xy.poor_x);
  count(1, xy.LargeY(), xy.poor_y);
  count(2, zw.LargeX(), zw.poor_x);
  count(3, zw.LargeY(), zw.poor_y);
  SyncCluster();
  if (rank == 0 && thread < kStripCols && first_col + thread < source.cols) {
    uint32_t all_large = 0, all_poor = 0;
    for (int i = 0; i < kSplitCluster; ++i) {
      all_large += LoadWordFromBlock(&large[thread], i);
      all_poor += LoadWordFromBlock(&poor[thread], i);
    }
    source.scales[matrix * source.cols + first_col + thread] = MakeSplitScale(
        largest[thread], static_cast<int>(all_large), static_cast<int>(all_poor), source.rows);
  }
  SyncCluster();  // No block ends while another one reads its counts.
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_OPERAND_H_
