// TF32 and INT8 by tensor cores: `tensor_tf32` and `tensor_int8`. matmul/device/tensor_kernel.h is
// the kernel, matmul/device/tensor_types.h calls it.

#include <cstdint>

#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

template <typename Element, typename Out, int kColumns, int kStages>
using KMajorTile =
    TensorTile<Element, Out, kColumns, kStages, 2, OperandLayout::kKMajor, OperandLayout::kKMajor>;

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args, const MatMulFunctions& fallback) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<Element> operands(args);
  if (!TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes()) {
    return fallback.run(args);
  }
  if (RoundsTime(args, device, 128, 1.06) < RoundsTime(args, device, 256, 1)) {
    return LaunchTensor<KMajorTile<Element, Out, 128, 6>>(args, device, operands);
  }
  return LaunchTensor<KMajorTile<Element, Out, 256, 4>>(args, device, operands);
}

}  // namespace

LaunchStatus MatMulTensorTf32(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_tf32");
  return Run<float, float>(args, fallback);
}

int64_t MatMulTensorTf32WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<float>(args);
}

LaunchStatus MatMulTensorInt8(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_8bit");
  return Run<int8_t, int>(args, fallback);
}

int64_t MatMulTensorInt8WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<int8_t>(args);
}

}  // namespace stridewise
