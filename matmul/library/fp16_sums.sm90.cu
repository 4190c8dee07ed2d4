// FP16 with sums in FP16: `tensor_fp16_sums`. It is for comparison: an H200 does not multiply
// faster for it, and a sum of k products loses what FP16's 11 bits do not hold at each 16 of k.
// matmul/device/tensor_kernel.h is the kernel, matmul/device/tensor_types.h calls it.

#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {

LaunchStatus MatMulTensorFp16Sums(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<__half> operands(args);
  if (!TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes()) {
    static const MatMulFunctions fallback = FunctionsOf("tensor");
    return fallback.run(args);
  }
  return ForLayouts(args, [&](auto a, auto b) {
    using Tile = TensorTile<__half, __half, 256, 4, 2, decltype(a)::value, decltype(b)::value,
                            TensorSums::kFp16>;
    return LaunchTensor<Tile>(args, device, operands, {}, /*c_transposed=*/false);
  });
}

int64_t MatMulTensorFp16SumsWorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<__half>(args);
}

}  // namespace stridewise
