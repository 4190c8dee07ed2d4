// The two 16-bit floating-point types as they lie in memory, on host and device: Bf16 has float's
// exponents and 8 significant bits, Fp16 is IEEE binary16 with 11. Kernels see the same bits as
// CUDA's __nv_bfloat16 and __half; here they only convert.

#ifndef STRIDEWISE_COMMON_BASE_HALF_TYPES_H_
#define STRIDEWISE_COMMON_BASE_HALF_TYPES_H_

#include <cstdint>
#include <cstring>

#include "common/base/matrix.h"

namespace stridewise {

// Returns the float with these bits, and the bits of a float.
STRIDEWISE_HOST_DEVICE inline float FloatOfBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
STRIDEWISE_HOST_DEVICE inline uint32_t BitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

struct Bf16 {
  uint16_t bits;

  Bf16() = default;
  // Rounds to the nearest, ties to even. A NaN stays one.
  STRIDEWISE_HOST_DEVICE explicit Bf16(float value) {
    const uint32_t wide = BitsOfFloat(value);
    const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(is_nan ? wide >> 16 | 0x40
                                        : (wide + 0x7fffu + (wide >> 16 & 1)) >> 16);
  }
  STRIDEWISE_HOST_DEVICE operator float() const {  // NOLINT(google-explicit-constructor)
    return FloatOfBits(static_cast<uint32_t>(bits) << 16);
  }
};

struct Fp16 {
  uint16_t bits;

  Fp16() = default;
  // Rounds to the nearest, ties to even; from 65520 on to infinity. A NaN stays one.
  STRIDEWISE_HOST_DEVICE explicit Fp16(float value) {
    constexpr uint32_t kInfinity = 0x7f800000;
    const uint32_t sign = BitsOfFloat(value) >> 16 & 0x8000;
    const uint32_t magnitude = BitsOfFloat(value) & 0x7fffffffu;
    if (magnitude >= kInfinity) {
      bits = static_cast<uint16_t>(sign | (magnitude > kInfinity ? 0x7e00 : 0x7c00));
    } else if (magnitude < 0x38800000) {
      // Below 2^-14 results are multiples of 2^-24, those of float from 0.5 to 1: the sum rounds.
      bits = static_cast<uint16_t>(
          sign | (BitsOfFloat(FloatOfBits(magnitude) + 0.5f) - BitsOfFloat(0.5f)));
    } else {
      const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
      bits = static_cast<uint16_t>(sign |
                                   (rounded >= 0x47800000 ? 0x7c00 : (rounded - 0x38000000) >> 13));
    }
  }
  STRIDEWISE_HOST_DEVICE operator float() const {  // NOLINT(google-explicit-constructor)
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
    if (magnitude >= 0x0f800000) return FloatOfBits(sign | 0x70000000 | magnitude);  // Inf or NaN.
    // Exponents are 112 apart. The product is exact, for subnormals too.
    return FloatOfBits(sign | BitsOfFloat(FloatOfBits(magnitude) * 0x1p112f));
  }
};

static_assert(sizeof(Bf16) == 2 && sizeof(Fp16) == 2, "as they lie in memory");

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_HALF_TYPES_H_
