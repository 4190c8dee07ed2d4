// __nv_bfloat16, with what whole programs call.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_BF16_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_BF16_H_

#include "../../shim/cuda_bf16.h"
#include "simt_more_half.h"

SIMT_MORE_HALF(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw)

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

static SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x));
}
static SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) {
  return __nv_bfloat162(x, x);
}
static SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
static SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
static SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
static SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.__x; }
static SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16_raw(bits);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUDA_BF16_H_
