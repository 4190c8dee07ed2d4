// __half: IEEE binary16.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP16_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP16_H_

#include "simt_half.h"

SIMT_HALF(__half, __half2, simt_half_of, simt_float_of_half)

typedef __half half;
typedef __half2 half2;

SIMT_INLINE __half __float2half(float value) { return __half(value); }
SIMT_INLINE __half __float2half_rn(float value) { return __half(value); }
SIMT_INLINE float __half2float(__half value) { return float(value); }
SIMT_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
SIMT_INLINE __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
SIMT_INLINE __half2 __float22half2_rn(float2 value) { return __floats2half2_rn(value.x, value.y); }
SIMT_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
SIMT_INLINE float2 __half22float2(__half2 value) { return float2(float(value.x), float(value.y)); }

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP16_H_
