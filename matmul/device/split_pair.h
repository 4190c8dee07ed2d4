// The pair of FP16 numbers that a float becomes, and for which sums of products pairs are good
// enough.
//
// Each row of op(A) and each column of op(B) is first scaled by a power of two that takes its
// largest element into [2^14, 2^15). An element x of it becomes hi + lo, hi the nearest FP16 number
// and lo the one nearest to the rest. Then |x - hi - lo| is at most 2^-23 |x|, but not less than
// 2^-25 where FP16 runs out of exponents: at 2^-16 of the largest element and below.
// docs/fp32_split.md has the bound of the products, and why the counts of SplitScale suffice.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_

#include <cuda_fp16.h>

#include <cstdint>

namespace stridewise {

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

// Counts of a thread's elements: of the first of each pair, and of the second.
struct SplitCounts {
  int poor_x = 0, poor_y = 0;
  __half2 large = __half2(0, 0);  // Exact up to 2048.

  __device__ int LargeX() const { return static_cast<int>(__low2float(large)); }
  __device__ int LargeY() const { return static_cast<int>(__high2float(large)); }
};

// Returns the bits of |x|, which are ordered as the absolute values are, NaN last.
__device__ inline uint32_t AbsBits(float x) { return __float_as_uint(x) & 0x7fffffff; }

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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_
