// What __half and __nv_bfloat16 have in common. Both are 16 bits that convert to float; each
// operation rounds once, to the nearest.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_HALF_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_HALF_H_

#include <type_traits>

#include "cuda_runtime.h"
#include "simt_entry_points.h"

SIMT_INLINE float simt_float_of_bfloat16(unsigned short bits) {
  return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}

// Of two numbers the sum, difference and product in float are exact enough to be rounded again.
#define SIMT_HALF(Half, Half2, of_float, float_of)                                         \
  struct alignas(2) Half {                                                                 \
    unsigned short __x;                                                                    \
    Half() = default;                                                                      \
    template <typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>       \
    SIMT_INLINE Half(T value) : __x(of_float(static_cast<float>(value))) {}                \
    SIMT_INLINE operator float() const { return float_of(__x); }                           \
    SIMT_INLINE Half& operator+=(Half b) { return *this = Half(float(*this) + float(b)); } \
    SIMT_INLINE Half& operator-=(Half b) { return *this = Half(float(*this) - float(b)); } \
    SIMT_INLINE Half& operator*=(Half b) { return *this = Half(float(*this) * float(b)); } \
    SIMT_INLINE Half& operator/=(Half b) { return *this = Half(float(*this) / float(b)); } \
  };                                                                                       \
  SIMT_INLINE Half operator+(Half a, Half b) { return a += b; }                            \
  SIMT_INLINE Half operator-(Half a, Half b) { return a -= b; }                            \
  SIMT_INLINE Half operator*(Half a, Half b) { return a *= b; }                            \
  SIMT_INLINE Half operator/(Half a, Half b) { return a /= b; }                            \
  SIMT_INLINE Half operator-(Half a) {                                                     \
    a.__x ^= 0x8000;                                                                       \
    return a;                                                                              \
  }                                                                                        \
  SIMT_INLINE bool operator==(Half a, Half b) { return float(a) == float(b); }             \
  SIMT_INLINE bool operator!=(Half a, Half b) { return float(a) != float(b); }             \
  SIMT_INLINE bool operator<(Half a, Half b) { return float(a) < float(b); }               \
  SIMT_INLINE bool operator<=(Half a, Half b) { return float(a) <= float(b); }             \
  SIMT_INLINE bool operator>(Half a, Half b) { return float(a) > float(b); }               \
  SIMT_INLINE bool operator>=(Half a, Half b) { return float(a) >= float(b); }             \
  SIMT_INLINE Half __hadd(Half a, Half b) { return a + b; }                                \
  SIMT_INLINE Half __hsub(Half a, Half b) { return a - b; }                                \
  SIMT_INLINE Half __hmul(Half a, Half b) { return a * b; }                                \
  SIMT_INLINE Half __hdiv(Half a, Half b) { return a / b; }                                \
  SIMT_INLINE Half __hneg(Half a) { return -a; }                                           \
  SIMT_INLINE Half __hmax(Half a, Half b) { return a > b ? a : b; }                        \
  SIMT_INLINE Half __hmin(Half a, Half b) { return a < b ? a : b; }                        \
  struct alignas(4) Half2 {                                                                \
    union {                                                                                \
      struct {                                                                             \
        Half x, y;                                                                         \
      };                                                                                   \
      unsigned simt_register; /* Copied in one access. */                                  \
    };                                                                                     \
    Half2() = default;                                                                     \
    SIMT_INLINE Half2(Half x, Half y) : x(x), y(y) {}                                      \
    SIMT_INLINE Half2(const Half2& other) : simt_register(other.simt_register) {}          \
    SIMT_INLINE Half2& operator=(const Half2& other) {                                     \
      simt_register = other.simt_register;                                                 \
      return *this;                                                                        \
    }                                                                                      \
  };                                                                                       \
  SIMT_INLINE Half2 __hadd2(Half2 a, Half2 b) { return Half2(a.x + b.x, a.y + b.y); }      \
  SIMT_INLINE Half2 __hsub2(Half2 a, Half2 b) { return Half2(a.x - b.x, a.y - b.y); }      \
  SIMT_INLINE Half2 __hmul2(Half2 a, Half2 b) { return Half2(a.x * b.x, a.y * b.y); }      \
  SIMT_INLINE Half2 __habs2(Half2 a) {                                                     \
    a.simt_register &= 0x7fff7fff;                                                         \
    return a;                                                                              \
  }                                                                                        \
  SIMT_INLINE Half2 __hge2(Half2 a, Half2 b) {                                             \
    return Half2(a.x >= b.x ? 1 : 0, a.y >= b.y ? 1 : 0);                                  \
  }                                                                                        \
  SIMT_INLINE bool __hbge2(Half2 a, Half2 b) { return a.x >= b.x && a.y >= b.y; }          \
  SIMT_INLINE float __low2float(Half2 a) { return float(a.x); }                            \
  SIMT_INLINE float __high2float(Half2 a) { return float(a.y); }

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_HALF_H_
