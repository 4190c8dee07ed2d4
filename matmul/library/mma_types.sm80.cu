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

template <typename Element>
LaunchStatus RunFp8(const MatMulArgs& args) {
  const TensorScales scales = ScalesOf(args);
  switch (args.c.type) {
    case ElementType::kBf16:
      return RunTensorMma<Element, __nv_bfloat16>(args, scales);
    case ElementType::kFp16:
      return RunTensorMma<Element, __half>(args, scales);
    default:
      return RunTensorMma<Element, float>(args, scales);
  }
}

}  // namespace

LaunchStatus MatMulTensorMmaTf32(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return RunTensorMma<float, float>(args);
}

LaunchStatus MatMulTensorMma8Bit(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  switch (args.a.type) {
    case ElementType::kE4m3:
      return RunFp8<__nv_fp8_e4m3>(args);
    case ElementType::kE5m2:
      return RunFp8<__nv_fp8_e5m2>(args);
    default:
      return RunTensorMma<int8_t, int>(args);
  }
}

}  // namespace stridewise
