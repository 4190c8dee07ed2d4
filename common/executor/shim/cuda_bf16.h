// __nv_bfloat16: the upper half of a float.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_BF16_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_BF16_H_

#include "simt_half.h"

SIMT_HALF(__nv_bfloat16, __nv_bfloat162, simt_bfloat16_of, simt_float_of_bfloat16)

SIMT_INLINE __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
SIMT_INLINE float __bfloat162float(__nv_bfloat16 value) { return float(value); }
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 value) {
  return __floats2bfloat162_rn(value.x, value.y);
}
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 value) {
  return float2(float(value.x), float(value.y));
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_BF16_H_
