// The two FP16 numbers that a float becomes on its way to shared memory (split_fused_tile.h), where
// nobody knows the largest element of its row yet, and which sums of products they are good enough
// for.
//
// A float x, scaled by a power of two, becomes h, the nearest FP16 number, and l, the one nearest
// to 2^11 (x - h). Where x is 2^-14 or more, h + 2^-11 l is off by at most 2^-23 of it, and below
// by at most 2^-36; beyond 65504 h is infinite. docs/fp32_split.md has the bound of the products.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PAIR_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PAIR_H_

#include <cmath>
#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"

namespace stridewise {

// The largest element of a block's first 64 of k is scaled into [2^13, 2^14), so that later ones
// may be four times as large.
constexpr int kFusedExponent = 13;
constexpr float kFusedLowFactor = 2048;  // Of the second part.

// Returns the power of two for these bits of the largest absolute value; 1 where all are zero.
STRIDEWISE_HOST_DEVICE inline float FusedPowerFor(uint32_t abs_bits) {
  if (abs_bits == 0) return 1;
  const int exponent = static_cast<int>(abs_bits >> 23) - 127;
  const int least = exponent > -kMostSplitExponent ? exponent : -kMostSplitExponent;
  const int clamped = least < kMostSplitExponent ? least : kMostSplitExponent;
  return FloatOfBits(static_cast<uint32_t>(kFusedExponent - clamped + 127) << 23);
}

// Returns 1 / power, without a division, whose code for subnormal numbers is 60 instructions.
STRIDEWISE_HOST_DEVICE inline float InverseOfPower(float power) {
  return FloatOfBits((uint32_t{254} << 23) - BitsOfFloat(power));
}

// Splits two neighbours that are scaled.
STRIDEWISE_HOST_DEVICE inline void SplitScaled(float x, float y, TwoFp16* high, TwoFp16* low) {
  *high = RoundToFp16(x, y);
  *low = RoundToFp16((x - FirstOf(*high)) * kFusedLowFactor,  // Exact, both.
                     (y - SecondOf(*high)) * kFusedLowFactor);
}

// Elements below this, other than zero, may lack bits.
constexpr float kFusedLeast = 0x1p-14F;

// Returns whether a sum of scaled products is as exact as FP32's where `small` elements of its row
// and column are below kFusedLeast. Each is off by up to 2^-36, against a partner of up to 2^16: by
// 2^-20, which is eight roundings of a sum of 2. What became infinite or NaN does not pass.
STRIDEWISE_HOST_DEVICE inline bool FusedSuffices(float sum, int small) {
  constexpr float kMost = 0x1p100F;
  const float size = std::abs(sum);
  return size >= 2.0F * static_cast<float>(small) && size <= kMost;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_PAIR_H_
