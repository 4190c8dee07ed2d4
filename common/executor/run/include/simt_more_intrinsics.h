// The device functions that shim/ leaves out because no kernel of this repository calls them.
//
// Fast approximations (__expf and its kind) are the exact functions here: results differ from a
// GPU's in the last bits.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_INTRINSICS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_INTRINSICS_H_

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#include <cmath>
#include <type_traits>

#include "simt_runtime_api.h"

// --- Arithmetic --------------------------------------------------------------------------------

// The C library declares these names too, so they are macros.
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __tanhf tanhf
#define __sincosf sincosf
static SIMT_INLINE float fdividef(float x, float y) { return x / y; }
static SIMT_INLINE float __saturatef(float x) { return x >= 0 ? (x <= 1 ? x : 1.0f) : 0.0f; }
static SIMT_INLINE float __frcp_rn(float x) { return 1.0f / x; }
static SIMT_INLINE float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
static SIMT_INLINE float rsqrtf(float x) { return __frsqrt_rn(x); }
static SIMT_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
static SIMT_INLINE float rsqrt(float x) { return rsqrtf(x); }
static SIMT_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static SIMT_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
static SIMT_INLINE float sinpif(float x) {
  return static_cast<float>(sin(M_PI * static_cast<double>(x)));
}
static SIMT_INLINE float cospif(float x) {
  return static_cast<float>(cos(M_PI * static_cast<double>(x)));
}
static SIMT_INLINE double sinpi(double x) { return sin(M_PI * x); }
static SIMT_INLINE double cospi(double x) { return cos(M_PI * x); }
static SIMT_INLINE void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
static SIMT_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
static SIMT_INLINE double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
static SIMT_INLINE float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
static SIMT_INLINE float norm4df(float a, float b, float c, float d) {
  return sqrtf(a * a + b * b + c * c + d * d);
}
static SIMT_INLINE float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }

static SIMT_INLINE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
static SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
static SIMT_INLINE int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<int64_t>(a) * b) >> 32);
}
static SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
static SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
static SIMT_INLINE long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
static SIMT_INLINE int __sad(int a, int b, unsigned c) {
  return static_cast<int>(c + static_cast<unsigned>(a > b ? a - b : b - a));
}
static SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a > b ? a - b : b - a);
}
static SIMT_INLINE int __hadd(int a, int b) {
  return static_cast<int>((static_cast<int64_t>(a) + b) >> 1);
}
static SIMT_INLINE unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) + b) >> 1);
}
// Of these a program may have functions of its own, which are preferred to templates.
template <typename A, typename B>
static SIMT_INLINE unsigned umin(A a, B b) {
  return static_cast<unsigned>(a) < static_cast<unsigned>(b) ? a : b;
}
template <typename A, typename B>
static SIMT_INLINE unsigned umax(A a, B b) {
  return static_cast<unsigned>(a) < static_cast<unsigned>(b) ? b : a;
}
static SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  }
  return c;
}

// --- Conversions -------------------------------------------------------------------------------

static SIMT_INLINE int __float2int_rz(float x) { return static_cast<int>(x); }
static SIMT_INLINE int __float2int_rd(float x) { return static_cast<int>(floorf(x)); }
static SIMT_INLINE int __float2int_ru(float x) { return static_cast<int>(ceilf(x)); }
static SIMT_INLINE unsigned __float2uint_rn(float x) { return static_cast<unsigned>(rintf(x)); }
static SIMT_INLINE unsigned __float2uint_rz(float x) { return static_cast<unsigned>(x); }
static SIMT_INLINE long long __float2ll_rn(float x) { return llrintf(x); }
static SIMT_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
static SIMT_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static SIMT_INLINE float __int2float_rz(int x) { return static_cast<float>(x); }
static SIMT_INLINE float __uint2float_rz(unsigned x) { return static_cast<float>(x); }
static SIMT_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
static SIMT_INLINE double __int2double_rn(int x) { return x; }
static SIMT_INLINE int __double2int_rn(double x) { return static_cast<int>(rint(x)); }
static SIMT_INLINE int __double2int_rz(double x) { return static_cast<int>(x); }
static SIMT_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }
static SIMT_INLINE int __double2hiint(double x) {
  return static_cast<int>(__builtin_bit_cast(uint64_t, x) >> 32);
}
static SIMT_INLINE int __double2loint(double x) {
  return static_cast<int>(__builtin_bit_cast(uint64_t, x));
}
static SIMT_INLINE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                        static_cast<unsigned>(low));
}
// Toward zero: one step back where the nearest number is beyond the exact one.
static SIMT_INLINE float SimtTowardZero(float nearest, float error) {
  return (nearest > 0 && error < 0) || (nearest < 0 && error > 0) ? nextafterf(nearest, 0.0f)
                                                                  : nearest;
}
static SIMT_INLINE float __fadd_rz(float a, float b) {
  const float sum = a + b, part = sum - a;
  return SimtTowardZero(sum, (a - (sum - part)) + (b - part));
}
static SIMT_INLINE float __fsub_rz(float a, float b) { return __fadd_rz(a, -b); }
static SIMT_INLINE float __fmul_rz(float a, float b) {
  const float product = a * b;
  return SimtTowardZero(product, fmaf(a, b, -product));
}
// The integer forms of min and max. Programs declare the first two themselves.
static SIMT_INLINE int min(int a, int b) { return a < b ? a : b; }
static SIMT_INLINE int max(int a, int b) { return a > b ? a : b; }
static SIMT_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
static SIMT_INLINE long long llmax(long long a, long long b) { return a > b ? a : b; }

// --- Warps -------------------------------------------------------------------------------------

// The lanes of the mask that have the same value.
template <typename T>
static SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    if (__shfl_sync(mask, value, lane) == value) same |= 1u << lane;
  }
  return same;
}
template <typename T>
static SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all) {
  const unsigned same = __match_any_sync(mask, value);
  *all = __all_sync(mask, same == mask);
  return *all != 0 ? mask : 0;
}
// Lanes run one after the other: active are those that come to the call before they wait elsewhere.
__attribute__((convergent)) static SIMT_INLINE unsigned __activemask() {
  return simt_active_mask();
}

// --- Atomic operations with a scope, and on doubles ---------------------------------------------

#define SIMT_SCOPED(name)                                                       \
  template <typename T>                                                         \
  static SIMT_INLINE T name##_block(T* address, std::common_type_t<T> value) {  \
    return name(address, value);                                                \
  }                                                                             \
  template <typename T>                                                         \
  static SIMT_INLINE T name##_system(T* address, std::common_type_t<T> value) { \
    return name(address, value);                                                \
  }
SIMT_SCOPED(atomicAdd)
SIMT_SCOPED(atomicSub)
SIMT_SCOPED(atomicMin)
SIMT_SCOPED(atomicMax)
SIMT_SCOPED(atomicExch)
SIMT_SCOPED(atomicAnd)
SIMT_SCOPED(atomicOr)
SIMT_SCOPED(atomicXor)
SIMT_SCOPED(atomicInc)
SIMT_SCOPED(atomicDec)
#undef SIMT_SCOPED
template <typename T>
static SIMT_INLINE T atomicCAS_system(T* address, std::common_type_t<T> compare,
                                      std::common_type_t<T> value) {
  return atomicCAS(address, compare, value);
}
template <typename T>
static SIMT_INLINE T atomicCAS_block(T* address, std::common_type_t<T> compare,
                                     std::common_type_t<T> value) {
  return atomicCAS(address, compare, value);
}

// --- Atomic operations of compute capability 9.0 -------------------------------------------------

// Whole blocks run one after the other where a kernel has atomic operations, and threads are not
// interrupted, so that plain code is atomic. It is not instrumented: to the executor the operation
// is the one call before it.
#define SIMT_UNSEEN_WIDE \
  static __attribute__((noinline, no_sanitize("coverage"), no_sanitize("thread")))
#define SIMT_WIDE(T)                                                             \
  SIMT_UNSEEN_WIDE T SimtExchange(T* address, const T* compare, T value) {       \
    const T old = *address;                                                      \
    if (compare == nullptr || __builtin_memcmp(&old, compare, sizeof(T)) == 0) { \
      *address = value;                                                          \
    }                                                                            \
    return old;                                                                  \
  }                                                                              \
  static SIMT_INLINE T atomicExch(T* address, T value) {                         \
    simt_atomic(address, sizeof(T));                                             \
    return SimtExchange(address, nullptr, value);                                \
  }                                                                              \
  static SIMT_INLINE T atomicCAS(T* address, T compare, T value) {               \
    simt_atomic(address, sizeof(T));                                             \
    return SimtExchange(address, &compare, value);                               \
  }
SIMT_WIDE(int4)
SIMT_WIDE(uint4)
SIMT_WIDE(float4)
SIMT_WIDE(double2)
#undef SIMT_WIDE

// Each element is added on its own.
SIMT_UNSEEN_WIDE float2 SimtAdd(float2* address, float2 value) {
  const float2 old = *address;
  *address = make_float2(old.x + value.x, old.y + value.y);
  return old;
}
SIMT_UNSEEN_WIDE float4 SimtAdd(float4* address, float4 value) {
  const float4 old = *address;
  *address = make_float4(old.x + value.x, old.y + value.y, old.z + value.z, old.w + value.w);
  return old;
}
static SIMT_INLINE float2 atomicAdd(float2* address, float2 value) {
  simt_atomic(address, sizeof(float2));
  return SimtAdd(address, value);
}
static SIMT_INLINE float4 atomicAdd(float4* address, float4 value) {
  simt_atomic(address, sizeof(float4));
  return SimtAdd(address, value);
}
#undef SIMT_UNSEEN_WIDE

// --- The rest ----------------------------------------------------------------------------------

static SIMT_INLINE void __trap() { simt_trap(); }
static SIMT_INLINE void __brkpt() {}
static SIMT_INLINE void __nanosleep(unsigned) {}
static SIMT_INLINE void __prof_trigger(int) {}
static SIMT_INLINE long long clock64() {
  return static_cast<long long>(__builtin_readcyclecounter());
}
static SIMT_INLINE clock_t simt_device_clock() { return static_cast<clock_t>(clock64()); }
static SIMT_INLINE unsigned long long __globaltimer() {
  return static_cast<unsigned long long>(__builtin_readcyclecounter());
}
static SIMT_INLINE size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<size_t>(pointer);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_INTRINSICS_H_
