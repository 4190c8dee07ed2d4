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
  static SIMT_INLINE Half hexp(Half a) { return Half(expf(float(a))); }                        \
  static SIMT_INLINE Half hlog(Half a) { return Half(logf(float(a))); }                        \
  static SIMT_INLINE Half hsqrt(Half a) { return Half(sqrtf(float(a))); }                      \
  static SIMT_INLINE Half hrsqrt(Half a) { return Half(1 / sqrtf(float(a))); }                 \
  static SIMT_INLINE Half hrcp(Half a) { return Half(1 / float(a)); }                          \
  static SIMT_INLINE Half htanh(Half a) { return Half(tanhf(float(a))); }                      \
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
  SIMT_ATOMIC_HALF(Half, unsigned short, __x)                                                  \
  SIMT_ATOMIC_HALF(Half2, unsigned, simt_register)

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_HALF_H_
