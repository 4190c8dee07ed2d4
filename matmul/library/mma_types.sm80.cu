// TF32, INT8 and FP8 by mma.sync: `tensor_mma_tf32` and `tensor_mma_8bit`.
// matmul/device/tensor_mma.h is the kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "matmul/device/tensor_mma.h"

namespace stridewise {
namespace {

using tensor_mma::RunTensorMma;

template <typename OfA, typename OfB>
LaunchStatus RunFp8(const MatMulArgs& args) {
  const TensorScales scales = ScalesOf(args);
  switch (args.c.type) {
    case ElementType::kBf16:
      return RunTensorMma<OfA, __nv_bfloat16, OfB>(args, scales);
    case ElementType::kFp16:
      return RunTensorMma<OfA, __half, OfB>(args, scales);
    default:
      return RunTensorMma<OfA, float, OfB>(args, scales);
  }
}

}  // namespace

LaunchStatus MatMulTensorMmaTf32(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return RunTensorMma<float, float>(args);
}

LaunchStatus MatMulTensorMma8Bit(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const bool b_is_e4m3 = args.b.type == ElementType::kE4m3;
  switch (args.a.type) {
    case ElementType::kE4m3:
      return b_is_e4m3 ? RunFp8<__nv_fp8_e4m3, __nv_fp8_e4m3>(args)
                       : RunFp8<__nv_fp8_e4m3, __nv_fp8_e5m2>(args);
    case ElementType::kE5m2:
      return b_is_e4m3 ? RunFp8<__nv_fp8_e5m2, __nv_fp8_e4m3>(args)
                       : RunFp8<__nv_fp8_e5m2, __nv_fp8_e5m2>(args);
    default:
      return args.c.type == ElementType::kInt ? RunTensorMma<int8_t, int>(args)
                                              : RunTensorMma<int8_t, float>(args);
  }
}

}  // namespace stridewise
