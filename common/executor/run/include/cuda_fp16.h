// __half, with what whole programs call.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_FP16_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_FP16_H_

#include "../../shim/cuda_fp16.h"
#include "simt_more_half.h"

SIMT_MORE_HALF(__half, __half2, __half_raw)

static SIMT_INLINE __half2 __half2half2(__half x) { return __half2(x, x); }
static SIMT_INLINE __half __low2half(__half2 a) { return a.x; }
static SIMT_INLINE __half __high2half(__half2 a) { return a.y; }
static SIMT_INLINE __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
static SIMT_INLINE __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
static SIMT_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
static SIMT_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
static SIMT_INLINE __half __double2half(double x) { return __half(static_cast<float>(x)); }
static SIMT_INLINE unsigned short __half_as_ushort(__half x) { return x.__x; }
static SIMT_INLINE __half __ushort_as_half(unsigned short bits) { return __half_raw(bits); }
static SIMT_INLINE int __half2int_rn(__half x) { return static_cast<int>(rintf(float(x))); }
static SIMT_INLINE int __half2int_rz(__half x) { return static_cast<int>(float(x)); }
static SIMT_INLINE __half __int2half_rn(int x) { return __half(static_cast<float>(x)); }

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_FP16_H_
