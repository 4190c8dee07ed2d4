// __nv_fp8_e4m3 and __nv_fp8_e5m2. Conversions to them saturate.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP8_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP8_H_

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define SIMT_FP8(Fp8, of_float, float_of)                                                        \
  struct Fp8 {                                                                                   \
    unsigned char __x;                                                                           \
    Fp8() = default;                                                                             \
    SIMT_INLINE explicit Fp8(float value) : __x(of_float(value)) {}                              \
    SIMT_INLINE explicit Fp8(double value) : __x(of_float(static_cast<float>(value))) {}         \
    SIMT_INLINE explicit Fp8(__half value) : __x(of_float(float(value))) {}                      \
    SIMT_INLINE explicit Fp8(__nv_bfloat16 value) : __x(of_float(float(value))) {}               \
    SIMT_INLINE explicit operator float() const { return float_of(__x); }                        \
    SIMT_INLINE explicit operator __half() const { return __half(float_of(__x)); }               \
    SIMT_INLINE explicit operator __nv_bfloat16() const { return __nv_bfloat16(float_of(__x)); } \
  };
SIMT_FP8(__nv_fp8_e4m3, simt_e4m3_of, simt_float_of_e4m3)
SIMT_FP8(__nv_fp8_e5m2, simt_e5m2_of, simt_float_of_e5m2)
#undef SIMT_FP8

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_FP8_H_
