// The two 8-bit floating-point types as they lie in memory, on host and device (Micikevicius et
// al.: FP8 Formats for Deep Learning, 2022). E4m3 has 4 significant bits and numbers up to 448, no
// infinity, and one NaN of each sign; E5m2 has 3 and the exponents of binary16, with infinities.
// Kernels see the same bits as CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2; here they only convert.

#ifndef STRIDEWISE_COMMON_BASE_FP8_TYPES_H_
#define STRIDEWISE_COMMON_BASE_FP8_TYPES_H_

#include <cstdint>

#include "common/base/half_types.h"
#include "common/base/matrix.h"

namespace stridewise {

// Rounds the magnitude of a float, given by its bits, to the nearest number, ties to even, of a
// type with kBits bits behind the leading one, whose least normal number is 2^least_exponent.
// Returns the bits of that number, as if the type had no largest one.
template <int kBits>
STRIDEWISE_HOST_DEVICE inline uint32_t RoundMagnitude(uint32_t magnitude, int least_exponent) {
  constexpr int kDropped = 23 - kBits;
  const uint32_t least_normal = static_cast<uint32_t>(127 + least_exponent) << 23;
  if (magnitude < least_normal) {
    // The sum with a number whose last bit is the type's smallest number rounds to a multiple of
    // it.
    const uint32_t anchor = static_cast<uint32_t>(127 + least_exponent + kDropped) << 23;
    return BitsOfFloat(FloatOfBits(magnitude) + FloatOfBits(anchor)) - anchor;
  }
  const uint32_t rounded = magnitude + (1u << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
  return (rounded - least_normal + (1u << 23)) >> kDropped;
}

struct E4m3 {
  uint8_t bits;

  E4m3() = default;
  // Rounds to the nearest, ties to even. What is above 448 after rounding, and infinity, becomes
  // 448 of the same sign, as the GPU's conversion with saturation does. A NaN stays one.
  STRIDEWISE_HOST_DEVICE explicit E4m3(float value) {
    constexpr uint32_t kLargest = 0x7e;
    const uint32_t sign = BitsOfFloat(value) >> 24 & 0x80;
    const uint32_t magnitude = BitsOfFloat(value) & 0x7fffffffu;
    const uint32_t rounded = magnitude >= 0x43e80000 ? kLargest : RoundMagnitude<3>(magnitude, -6);
    const bool is_nan = magnitude > 0x7f800000u;
    bits = static_cast<uint8_t>(sign | (is_nan ? 0x7f : rounded > kLargest ? kLargest : rounded));
  }
  STRIDEWISE_HOST_DEVICE operator float() const {  // NOLINT(google-explicit-constructor)
    const uint32_t sign = static_cast<uint32_t>(bits & 0x80) << 24;
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7f);
    if (magnitude == 0x7f) return FloatOfBits(sign | 0x7fc00000);
    // Exponents are 120 apart. The product is exact, for subnormals too.
    return FloatOfBits(sign | BitsOfFloat(FloatOfBits(magnitude << 20) * 0x1p120f));
  }
};

struct E5m2 {
  uint8_t bits;

  E5m2() = default;
  // Rounds to the nearest, ties to even. What is above 57344 after rounding becomes 57344 of the
  // same sign; infinities and NaNs stay what they are.
  STRIDEWISE_HOST_DEVICE explicit E5m2(float value) {
    constexpr uint32_t kLargest = 0x7b;
    constexpr uint32_t kInfinity = 0x7f800000;
    const uint32_t sign = BitsOfFloat(value) >> 24 & 0x80;
    const uint32_t magnitude = BitsOfFloat(value) & 0x7fffffffu;
    const uint32_t rounded = magnitude >= 0x47700000 ? kLargest : RoundMagnitude<2>(magnitude, -14);
    bits = static_cast<uint8_t>(sign | (magnitude > kInfinity    ? 0x7e
                                        : magnitude == kInfinity ? 0x7c
                                        : rounded > kLargest     ? kLargest
                                                                 : rounded));
  }
  STRIDEWISE_HOST_DEVICE operator float() const {  // NOLINT(google-explicit-constructor)
    Fp16 wide;                                     // Has the same exponents.
    wide.bits = static_cast<uint16_t>(bits << 8);
    return wide;
  }
};

static_assert(sizeof(E4m3) == 1 && sizeof(E5m2) == 1, "as they lie in memory");

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_FP8_TYPES_H_
