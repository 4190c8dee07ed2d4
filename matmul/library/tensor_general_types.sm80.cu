// TF32, INT8 and FP8 by mma.sync: `tensor_general_tf32` and `tensor_general_8bit`.
// matmul/device/tensor_general.h is the kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "matmul/device/tensor_general.h"

namespace stridewise {
namespace {

using tensor_general::RunTensorGeneral;

template <typename Element>
LaunchStatus RunFp8(const MatMulArgs& args) {
  const TensorScales scales = ScalesOf(args);
  switch (args.c.type) {
    case ElementType::kBf16:
      return RunTensorGeneral<Element, __nv_bfloat16>(args, scales);
    case ElementType::kFp16:
      return RunTensorGeneral<Element, __half>(args, scales);
    default:
      return RunTensorGeneral<Element, float>(args, scales);
  }
}

}  // namespace

LaunchStatus MatMulTensorGeneralTf32(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return RunTensorGeneral<float, float>(args);
}

LaunchStatus MatMulTensorGeneral8Bit(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  switch (args.a.type) {
    case ElementType::kE4m3:
      return RunFp8<__nv_fp8_e4m3>(args);
    case ElementType::kE5m2:
      return RunFp8<__nv_fp8_e5m2>(args);
    default:
      return RunTensorGeneral<int8_t, int>(args);
  }
}

}  // namespace stridewise
