// Intrinsics of one thread: memory accesses with a cache hint, rounded arithmetic, bits.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_INTRINSICS_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_INTRINSICS_H_

#include <math.h>
#include <stdint.h>

#include <type_traits>

// No caches are modelled, so a hint changes nothing.
#define SIMT_LOAD(name)            \
  template <typename T>            \
  SIMT_INLINE T name(const T* p) { \
    return *p;                     \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD

#define SIMT_STORE(name)                                            \
  template <typename T>                                             \
  SIMT_INLINE void name(T* p, const std::common_type_t<T>& value) { \
    *p = value;                                                     \
  }
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_STORE

// Kernels are compiled without contraction: each operation rounds once, to nearest, as these say.
SIMT_INLINE float __fadd_rn(float a, float b) { return a + b; }
SIMT_INLINE float __fsub_rn(float a, float b) { return a - b; }
SIMT_INLINE float __fmul_rn(float a, float b) { return a * b; }
SIMT_INLINE float __fdiv_rn(float a, float b) { return a / b; }
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INLINE float __fsqrt_rn(float a) { return sqrtf(a); }
// Of these a GPU has approximations, with errors of a few units in the last place.
SIMT_INLINE float __fdividef(float a, float b) { return a / b; }
SIMT_INLINE float __expf(float a) { return expf(a); }
SIMT_INLINE float __logf(float a) { return logf(a); }
SIMT_INLINE double __dadd_rn(double a, double b) { return a + b; }
SIMT_INLINE double __dsub_rn(double a, double b) { return a - b; }
SIMT_INLINE double __dmul_rn(double a, double b) { return a * b; }
SIMT_INLINE double __ddiv_rn(double a, double b) { return a / b; }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
SIMT_INLINE double __dsqrt_rn(double a) { return sqrt(a); }

// CUDA's are overloads for each pair of arithmetic types, with C++'s conversions; of a number and a
// NaN both give the number.
template <typename A, typename B, typename T = std::common_type_t<A, B>,
          typename = std::enable_if_t<std::is_arithmetic<T>::value>>
SIMT_INLINE T min(A left, B right) {
  const T a = left;
  const T b = right;
  return a < b || b != b ? a : b;
}
template <typename A, typename B, typename T = std::common_type_t<A, B>,
          typename = std::enable_if_t<std::is_arithmetic<T>::value>>
SIMT_INLINE T max(A left, B right) {
  const T a = left;
  const T b = right;
  return a > b || b != b ? a : b;
}

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
SIMT_INLINE int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SIMT_INLINE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// The middle 32 bits of the 64 of (high, low), shifted by the last five bits of `shift`.
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}

// The nearest whole number, or that of the type nearest to it; 0 for NaN.
SIMT_INLINE int __float2int_rn(float x) {
  if (x != x) return 0;
  const float rounded = __builtin_rintf(x);
  if (rounded >= 0x1p31F) return 0x7fffffff;
  return rounded < -0x1p31F ? -0x7fffffff - 1 : static_cast<int>(rounded);
}

// Four bytes of the eight of (y, x), chosen by the nibbles of `selector`, whose highest bit asks
// for copies of the chosen byte's sign.
SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 0xf;
    const unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7))) & 0xff;
    const unsigned sign = 0u - (byte >> 7) & 0xff;
    result |= (nibble & 8 ? sign : byte) << (8 * i);
  }
  return result;
}

SIMT_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SIMT_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SIMT_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SIMT_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SIMT_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SIMT_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_INTRINSICS_H_
