// What the schemes that write floats as sums of narrower numbers have in common: parts, the order
// of their products, and the word that says what a row or column allows.
//
// Each row of op(A) and each column of op(B) is first scaled by a power of two that takes its
// largest element into [2^14, 2^15). A scheme (split_pair.h, split_triple.h,
// split_slices.h, split_tf32.h) is a type with
//   Element, Two     its number and a pair of those,
//   Sum              of products, as tensor cores sum them,
//   kForm            parts, their bytes and products (matmul/split_choice.h),
//   kExponentSlack   added to the largest element's bits before its exponent is taken,
//   kMostOrder       the product of the parts i and j of A and B, the largest being 0, is computed
//                    where i + j is at most this,
//   Counts           what a thread counts of its elements: LargeX(), LargeY(), PoorX(), PoorY(),
//   Split()          writes two elements as parts, and counts,
//   Range()          the range of a row or column with these numbers of large and poor elements.
// All of it can be called on the host, where split_model_test.cc computes with it.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_SCHEME_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_SCHEME_H_

#include <cstdint>

#include "common/base/half_types.h"
#include "common/base/matrix.h"
#include "matmul/split_choice.h"

namespace stridewise {

// The largest element of a scaled row or column lies in [2^kSplitExponent, twice that).
constexpr int kSplitExponent = 14;
// The largest element's exponents that the scaling takes: no scaled sum of 2^24 products, and no
// power of two on the way back, leaves the range of FP32.
constexpr int kMostSplitExponent = 80;

// What is known of a row of op(A) or a column of op(B), in a word that a kernel copies to shared
// memory: the inverse of its power of two, and 2 * range + poor. The parts are good enough for a
// product of a row and a column if neither is poor, or the sum of their ranges is not negative.
using SplitScale = uint32_t;

// The range of what is infinite, NaN or beyond kMostSplitExponent: no product may use its parts.
constexpr int kNoSplit = -(1 << 22) + 1;

// Returns the bits of |x|, which are ordered as the absolute values are, NaN last.
STRIDEWISE_HOST_DEVICE inline uint32_t AbsBits(float x) { return BitsOfFloat(x) & 0x7fffffff; }

STRIDEWISE_HOST_DEVICE inline SplitScale PackSplitScale(float inverse, int range) {
  return BitsOfFloat(inverse) << 1 |
         (static_cast<uint32_t>(range > kNoSplit ? range : kNoSplit) & 0xffffff);
}
STRIDEWISE_HOST_DEVICE inline float InverseOf(SplitScale scale) {
  return FloatOfBits(scale >> 1 & 0x7f800000);
}
STRIDEWISE_HOST_DEVICE inline int RangeOf(SplitScale scale) {
  return static_cast<int>(scale << 8) >> 8;
}

// Returns the exponent of the largest element as the scaling takes it: within its range.
template <typename Scheme>
STRIDEWISE_HOST_DEVICE inline int ScaledExponent(uint32_t abs_bits) {
  const int exponent = static_cast<int>((abs_bits + Scheme::kExponentSlack) >> 23) - 127;
  const int least = exponent > -kMostSplitExponent ? exponent : -kMostSplitExponent;
  return least < kMostSplitExponent ? least : kMostSplitExponent;
}

// Returns the power of two that takes a number with these bits into [2^14, 2^15), or near it where
// its exponent is out of range; and its inverse, without a division, whose code for subnormal
// numbers is 60 instructions.
template <typename Scheme>
STRIDEWISE_HOST_DEVICE inline float PowerFor(uint32_t abs_bits) {
  const int exponent = kSplitExponent - ScaledExponent<Scheme>(abs_bits);
  return FloatOfBits(static_cast<uint32_t>(exponent + 127) << 23);
}
template <typename Scheme>
STRIDEWISE_HOST_DEVICE inline float InversePowerFor(uint32_t abs_bits) {
  const int exponent = ScaledExponent<Scheme>(abs_bits) - kSplitExponent;
  return FloatOfBits(static_cast<uint32_t>(exponent + 127) << 23);
}

// Returns whether parts are good enough for a tile: some of its rows or columns may be poor, and
// the ranges are the least.
STRIDEWISE_HOST_DEVICE inline bool PartsSuffice(bool poor, int range_of_rows, int range_of_cols) {
  return !poor || range_of_rows + range_of_cols >= 0;
}

// Makes the entry from the bits of the largest absolute value and the counts.
template <typename Scheme>
STRIDEWISE_HOST_DEVICE inline SplitScale SplitScaleFrom(uint32_t abs_bits, int large, int poor,
                                                        int k) {
  const float inverse = InversePowerFor<Scheme>(abs_bits);
  if (abs_bits == 0) return PackSplitScale(inverse, 2 * k);  // All products are zero, exactly.
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  if (exponent < -kMostSplitExponent || exponent > kMostSplitExponent) {
    return PackSplitScale(inverse, kNoSplit);
  }
  return PackSplitScale(inverse, Scheme::Range(large, poor, k));
}

// An element, and what scaling makes of it: nothing, perhaps, where the largest of its row is 2^149
// times as large.
struct ScaledElement {
  float value;
  float original;

  STRIDEWISE_HOST_DEVICE ScaledElement(float element, float power)
      : value(element * power), original(element) {}
  STRIDEWISE_HOST_DEVICE bool IsLost() const { return value == 0 && original != 0; }
};

// Calls f(i, j) for the products of the parts i of A and j of B, but for that of the largest: the
// small ones first, so that the large are not yet there to cut them off.
template <typename Scheme, typename Function>
STRIDEWISE_HOST_DEVICE inline void ForEachSmallProduct(Function f) {
#pragma unroll
  for (int order = Scheme::kMostOrder; order > 0; --order) {
#pragma unroll
    for (int i = 0; i < Scheme::kForm.parts; ++i) {
      const int j = order - i;
      if (j >= 0 && j < Scheme::kForm.parts) f(i, j);
    }
  }
}

// A part of four neighbours, as it is stored.
template <typename Scheme>
struct alignas(4 * sizeof(typename Scheme::Element)) SplitQuad {
  typename Scheme::Two xy, zw;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_SCHEME_H_
