// BF16 and FP16 by mma.sync: `tensor_general`. matmul/device/tensor_general.h is the kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "matmul/device/tensor_general.h"

namespace stridewise {

LaunchStatus MatMulTensorGeneral(const MatMulArgs& args) {
  using tensor_general::RunTensorGeneral;
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const bool wide = args.c.type == ElementType::kFloat;
  if (args.a.type == ElementType::kBf16) {
    return wide ? RunTensorGeneral<__nv_bfloat16, float>(args)
                : RunTensorGeneral<__nv_bfloat16, __nv_bfloat16>(args);
  }
  return wide ? RunTensorGeneral<__half, float>(args) : RunTensorGeneral<__half, __half>(args);
}

}  // namespace stridewise
