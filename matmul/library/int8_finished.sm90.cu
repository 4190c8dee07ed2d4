// INT8 with C of float: exact sums of INT32, which `tensor_int8`'s kernel rounds to float once,
// scales, and finishes with a bias and an activation.

#include <cstdint>

#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_int8_tiles.h"

namespace stridewise {

LaunchStatus MatMulInt8Finished(const MatMulArgs& args, const DeviceModel& device,
                                const TensorOperands<int8_t>& operands) {
  const FinishedCall call(args);
  return RunInt8Tiles<float>(call.product, device, operands, call.finish);
}

}  // namespace stridewise
