// TF32 with a bias and an activation in the epilogue of `tensor_tf32`'s kernel.

#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_tf32_tiles.h"

namespace stridewise {

LaunchStatus MatMulTf32Finished(const MatMulArgs& args, const DeviceModel& device,
                                const TensorOperands<float>& operands) {
  const FinishedCall call(args);
  return RunTf32Tiles(call.product, device, operands, call.finish);
}

}  // namespace stridewise
