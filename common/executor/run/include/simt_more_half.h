// Functions on 16-bit floats that shim/ leaves out because no kernel of this repository calls them.
// Each rounds once, to the nearest, from float.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_HALF_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_HALF_H_

#include "cuda_runtime.h"

#define SIMT_ATOMIC_HALF(T, Bits, bits)                               \
  static SIMT_INLINE T atomicAdd(T* address, T value) {               \
    simt_atomic(address, sizeof(T));                                  \
    T old;                                                            \
    old.bits = SimtUpdate(&address->bits, [value](Bits was) -> Bits { \
      T sum;                                                          \
      sum.bits = was;                                                 \
      return (sum + value).bits;                                      \
    });                                                               \
    return old;                                                       \
  }
// The function of float, on one and on two.
#define SIMT_HALF_FUNCTION(Half, Half2, name, value) \
  static SIMT_INLINE Half h##name(Half a) {          \
    const float x = float(a);                        \
    return Half(value);                              \
  }                                                  \
  static SIMT_INLINE Half2 h2##name(Half2 a) { return Half2(h##name(a.x), h##name(a.y)); }
#define SIMT_HALF_FUNCTIONS(Half, Half2)               \
  SIMT_HALF_FUNCTION(Half, Half2, ceil, ceilf(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, cos, cosf(x))        \
  SIMT_HALF_FUNCTION(Half, Half2, exp, expf(x))        \
  SIMT_HALF_FUNCTION(Half, Half2, exp2, exp2f(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, exp10, powf(10, x))  \
  SIMT_HALF_FUNCTION(Half, Half2, floor, floorf(x))    \
  SIMT_HALF_FUNCTION(Half, Half2, log, logf(x))        \
  SIMT_HALF_FUNCTION(Half, Half2, log2, log2f(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, log10, log10f(x))    \
  SIMT_HALF_FUNCTION(Half, Half2, rcp, 1 / x)          \
  SIMT_HALF_FUNCTION(Half, Half2, rint, rintf(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, rsqrt, 1 / sqrtf(x)) \
  SIMT_HALF_FUNCTION(Half, Half2, sin, sinf(x))        \
  SIMT_HALF_FUNCTION(Half, Half2, sqrt, sqrtf(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, tanh, tanhf(x))      \
  SIMT_HALF_FUNCTION(Half, Half2, trunc, truncf(x))

// Comparisons of two at once: 1 or 0 in each, or whether both are so.
#define SIMT_HALF_COMPARISON(Half2, name, op)               \
  static SIMT_INLINE Half2 __h##name##2(Half2 a, Half2 b) { \
    return Half2(a.x op b.x ? 1 : 0, a.y op b.y ? 1 : 0);   \
  }                                                         \
  static SIMT_INLINE bool __hb##name##2(Half2 a, Half2 b) { return a.x op b.x && a.y op b.y; }

#define SIMT_MORE_HALF(Half, Half2, Raw)                                                       \
  struct Raw {                                                                                 \
    unsigned short x;                                                                          \
    SIMT_INLINE operator Half() const { return __builtin_bit_cast(Half, *this); }              \
    Raw() = default;                                                                           \
    SIMT_INLINE Raw(unsigned short bits) : x(bits) {}                                          \
    SIMT_INLINE Raw(Half value) : Raw(__builtin_bit_cast(Raw, value)) {}                       \
  };                                                                                           \
  static SIMT_INLINE Half __hfma(Half a, Half b, Half c) {                                     \
    return Half(static_cast<float>(static_cast<double>(float(a)) * float(b) + float(c)));      \
  }                                                                                            \
  static SIMT_INLINE Half __habs(Half a) { return Half(fabsf(float(a))); }                     \
  static SIMT_INLINE bool __hisnan(Half a) { return float(a) != float(a); }                    \
  static SIMT_INLINE bool __heq(Half a, Half b) { return a == b; }                             \
  static SIMT_INLINE bool __hne(Half a, Half b) { return a != b; }                             \
  static SIMT_INLINE bool __hlt(Half a, Half b) { return a < b; }                              \
  static SIMT_INLINE bool __hle(Half a, Half b) { return a <= b; }                             \
  static SIMT_INLINE bool __hgt(Half a, Half b) { return a > b; }                              \
  static SIMT_INLINE bool __hge(Half a, Half b) { return a >= b; }                             \
  static SIMT_INLINE Half2 __hfma2(Half2 a, Half2 b, Half2 c) {                                \
    return Half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                \
  }                                                                                            \
  static SIMT_INLINE Half2 operator+(Half2 a, Half2 b) { return Half2(a.x + b.x, a.y + b.y); } \
  static SIMT_INLINE Half2 operator-(Half2 a, Half2 b) { return Half2(a.x - b.x, a.y - b.y); } \
  static SIMT_INLINE Half2 operator*(Half2 a, Half2 b) { return Half2(a.x * b.x, a.y * b.y); } \
  static SIMT_INLINE Half2 operator/(Half2 a, Half2 b) { return Half2(a.x / b.x, a.y / b.y); } \
  static SIMT_INLINE Half2& operator+=(Half2& a, Half2 b) { return a = a + b; }                \
  static SIMT_INLINE Half2& operator-=(Half2& a, Half2 b) { return a = a - b; }                \
  static SIMT_INLINE Half2& operator*=(Half2& a, Half2 b) { return a = a * b; }                \
  static SIMT_INLINE Half2 operator-(Half2 a) { return Half2(-a.x, -a.y); }                    \
  static SIMT_INLINE Half2 __hneg2(Half2 a) { return -a; }                                     \
  static SIMT_INLINE Half2 __h2div(Half2 a, Half2 b) { return a / b; }                         \
  static SIMT_INLINE Half2 __hmax2(Half2 a, Half2 b) {                                         \
    return Half2(__hmax(a.x, b.x), __hmax(a.y, b.y));                                          \
  }                                                                                            \
  static SIMT_INLINE Half2 __hmin2(Half2 a, Half2 b) {                                         \
    return Half2(__hmin(a.x, b.x), __hmin(a.y, b.y));                                          \
  }                                                                                            \
  static SIMT_INLINE Half2 __lowhigh2highlow(Half2 a) { return Half2(a.y, a.x); }              \
  SIMT_HALF_COMPARISON(Half2, eq, ==)                                                          \
  SIMT_HALF_COMPARISON(Half2, ne, !=)                                                          \
  SIMT_HALF_COMPARISON(Half2, lt, <)                                                           \
  SIMT_HALF_COMPARISON(Half2, le, <=)                                                          \
  SIMT_HALF_COMPARISON(Half2, gt, >)                                                           \
  SIMT_HALF_FUNCTIONS(Half, Half2)                                                             \
  SIMT_ATOMIC_HALF(Half, unsigned short, __x)                                                  \
  SIMT_ATOMIC_HALF(Half2, unsigned, simt_register)

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_HALF_H_
