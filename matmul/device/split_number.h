// Two neighbours rounded to FP16, BF16 or TF32, or of INT8, as the schemes of split_scheme.h use
// them: CUDA's types in device code, and the same roundings on the host.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_NUMBER_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_NUMBER_H_

#include <cmath>
#include <cstdint>

#include "common/base/half_types.h"
#include "common/base/matrix.h"

#if defined(__CUDACC__) || defined(STRIDEWISE_HOST_EXECUTOR)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace stridewise {

#if defined(__CUDACC__) || defined(STRIDEWISE_HOST_EXECUTOR)
using SplitFp16 = __half;
using SplitBf16 = __nv_bfloat16;
using TwoFp16 = __half2;
using TwoBf16 = __nv_bfloat162;

__host__ __device__ inline TwoFp16 RoundToFp16(float x, float y) { return __floats2half2_rn(x, y); }
__host__ __device__ inline TwoBf16 RoundToBf16(float x, float y) {
  return __floats2bfloat162_rn(x, y);
}
__host__ __device__ inline float FirstOf(TwoFp16 two) { return __low2float(two); }
__host__ __device__ inline float SecondOf(TwoFp16 two) { return __high2float(two); }
__host__ __device__ inline float FirstOf(TwoBf16 two) { return __low2float(two); }
__host__ __device__ inline float SecondOf(TwoBf16 two) { return __high2float(two); }

// Adds 1 to each count whose number is `least` or more, without the sign.
__host__ __device__ inline void CountFrom(float least, TwoFp16 two, TwoFp16* counts) {
  *counts = __hadd2(*counts, __hge2(__habs2(two), __float2half2_rn(least)));
}
// Returns whether both are.
__host__ __device__ inline bool AreFrom(float least, TwoFp16 two) {
  return __hbge2(__habs2(two), __float2half2_rn(least));
}
#else
using SplitFp16 = Fp16;
using SplitBf16 = Bf16;
struct TwoFp16 {
  Fp16 x, y;
};
struct TwoBf16 {
  Bf16 x, y;
};

inline TwoFp16 RoundToFp16(float x, float y) { return {Fp16(x), Fp16(y)}; }
inline TwoBf16 RoundToBf16(float x, float y) { return {Bf16(x), Bf16(y)}; }
template <typename Two>
float FirstOf(Two two) {
  return two.x;
}
template <typename Two>
float SecondOf(Two two) {
  return two.y;
}
inline void CountFrom(float least, TwoFp16 two, TwoFp16* counts) {
  const auto one_if = [=](float x) { return std::abs(x) >= least ? 1.0F : 0.0F; };
  *counts = RoundToFp16(counts->x + one_if(two.x), counts->y + one_if(two.y));
}
inline bool AreFrom(float least, TwoFp16 two) {
  return std::abs(float{two.x}) >= least && std::abs(float{two.y}) >= least;
}
#endif

// How many elements of two rows are large, and how many poor, where the first part is an FP16
// number.
struct Fp16Counts {
  int poor_x = 0, poor_y = 0;
  TwoFp16 large = RoundToFp16(0, 0);  // Exact up to 2048.

  STRIDEWISE_HOST_DEVICE int LargeX() const { return static_cast<int>(FirstOf(large)); }
  STRIDEWISE_HOST_DEVICE int LargeY() const { return static_cast<int>(SecondOf(large)); }
  STRIDEWISE_HOST_DEVICE int PoorX() const { return poor_x; }
  STRIDEWISE_HOST_DEVICE int PoorY() const { return poor_y; }
};

// Returns the nearest whole number; some number where there is none.
STRIDEWISE_HOST_DEVICE inline int RoundToInt(float x) {
#ifdef __CUDA_ARCH__
  return __float2int_rn(x);
#else
  return std::abs(x) < 0x1p30F ? static_cast<int>(std::rint(x)) : 0;
#endif
}

// Returns the two low bytes of x and y, in turn.
STRIDEWISE_HOST_DEVICE inline uint32_t LowBytes(uint32_t x, uint32_t y) {
#ifdef __CUDA_ARCH__
  return __byte_perm(x, y, 0x5140);
#else
  return (x & 0xff) | (y & 0xff) << 8 | (x >> 8 & 0xff) << 16 | (y >> 8 & 0xff) << 24;
#endif
}

struct alignas(2) TwoInt8 {
  int8_t x, y;
};

// Numbers of TF32 are floats whose last 13 bits are zero.
struct alignas(8) TwoTf32 {
  float x, y;
};

// Rounds to the nearest, ties away from zero. REQUIRES: they are finite, and so are the results.
STRIDEWISE_HOST_DEVICE inline TwoTf32 RoundToTf32(float x, float y) {
  constexpr uint32_t kDropped = 0x1fff;
  return {FloatOfBits((BitsOfFloat(x) + (kDropped + 1) / 2) & ~kDropped),
          FloatOfBits((BitsOfFloat(y) + (kDropped + 1) / 2) & ~kDropped)};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_NUMBER_H_
