// The FP16 number and the two FP8 numbers (e4m3) that a float becomes, and for which sums of
// products they are good enough: 16 bits of it, a precision between TF32's and FP32's.
//
// A scaled element x lies in [-2^14, 2^14]. Its first part h is the nearest FP16 number. The second
// part is two bytes: h and the rest x - h, each rounded to the 4 bits of e4m3, as multiples of 2^6
// and of 2^-6: what both are largest in is the same number, 2^8, and the powers cancel in products.
// Multiplied with hh', the two cross products of rounded numbers are off by 3 * 2^-15 |x||y| at
// most. docs/fp32_split.md has the bound, and why the counts suffice.
//
// The two bytes are neighbours, in op(A) as (h, rest) and in op(B) as (rest, h), so that one FP8
// product over 2 k bytes is the sum of both cross products.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FP8_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FP8_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/base/fp8_types.h"
#include "common/base/matrix.h"
#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"

#ifdef __CUDACC__
#include <cuda_fp8.h>
#endif

namespace stridewise {

// Returns the bytes of two numbers rounded to e4m3, x's first.
STRIDEWISE_HOST_DEVICE inline uint32_t RoundToE4m3(float x, float y) {
#if defined(__CUDACC__) && defined(__CUDA_ARCH__)
  return __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3);
#else
  return E4m3(x).bits | static_cast<uint32_t>(E4m3(y).bits) << 8;
#endif
}

struct Fp16AndFp8 {
  using Element = SplitFp16;  // Two bytes of either part.
  using Two = TwoFp16;
  using Sum = float;
  static constexpr SplitForm kForm = kFp16AndFp8Form;
  // The largest element is scaled into [2^13, 2^14): 2^14 is 2^8 as FP8, and half of the last bit
  // of h is 4.
  static constexpr uint32_t kExponentSlack = 1 << 23;

  // Elements from here on, as scaled, count as large.
  static constexpr float kLargeElement = 64;
  // Below this, as scaled, FP8 runs out of exponents.
  static constexpr float kSmallElement = 1;
  static constexpr float kUnitOfHigh = 0x1p6F;

  // Poor is what lies below kSmallElement and is not zero.
  using Counts = Fp16Counts;

  // Of op(A). What op(B) has is Swapped() of the second part.
  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[2],
                                           Counts* counts) {
    const Two high = RoundToFp16(x.value, y.value);
    const float rest_x = x.value - FirstOf(high);  // Exact.
    const float rest_y = y.value - SecondOf(high);
    CountFrom(kLargeElement, high, &counts->large);
    if (!AreFrom(kSmallElement, high)) {
      counts->poor_x += IsPoor(x) ? 1 : 0;
      counts->poor_y += IsPoor(y) ? 1 : 0;
    }
    const uint32_t highs = RoundToE4m3(FirstOf(high) / kUnitOfHigh, SecondOf(high) / kUnitOfHigh);
    const uint32_t rests = RoundToE4m3(rest_x * kUnitOfHigh, rest_y * kUnitOfHigh);
    parts[0] = high;
    parts[1] = TwoOf(LowBytes(highs, rests));
  }

  // Returns the second part with the bytes of each element exchanged.
  STRIDEWISE_HOST_DEVICE static Two Swapped(Two second) {
    const uint32_t bits = BitsOf(second);
    return TwoOf((bits & 0x00ff00ff) << 8 | (bits >> 8 & 0x00ff00ff));
  }

  // A poor element is off by so little that a product with it adds less than 3/4; with l large
  // elements in a row of A and m in a column of B the sum of |x||y| is at least 2^12 (l + m - k).
  STRIDEWISE_HOST_DEVICE static int Range(int large, int poor, int k) {
    const int balance = 2 * large - 32 * poor - k;
    return 2 * (balance > kNoSplit / 2 ? balance : kNoSplit / 2) + (poor > 0 ? 1 : 0);
  }

  STRIDEWISE_HOST_DEVICE static uint32_t BitsOf(Two two) {
    uint32_t bits;
    memcpy(&bits, &two, sizeof(bits));
    return bits;
  }

 private:
  STRIDEWISE_HOST_DEVICE static Two TwoOf(uint32_t bits) {
    Two two;
    memcpy(static_cast<void*>(&two), &bits, sizeof(bits));
    return two;
  }
  STRIDEWISE_HOST_DEVICE static bool IsPoor(ScaledElement x) {
    return std::abs(x.value) < kSmallElement && (x.value != 0 || x.IsLost());
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FP8_H_
