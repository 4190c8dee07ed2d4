// FP8 with a bias and an activation in the epilogue of `tensor_fp8`'s kernel.

#include <cuda_fp8.h>

#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_fp8_tiles.h"

namespace stridewise {
namespace {

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  const FinishedCall call(args);
  const TensorOperands<Element> operands(args);
  return ForFp8Outputs(args, [&](auto out) {
    return RunPromoted<Element, Element, decltype(out)>(call.product, device, operands, call.scales,
                                                        call.finish);
  });
}

}  // namespace

LaunchStatus MatMulFp8Finished(const MatMulArgs& args, const DeviceModel& device) {
  return args.a.type == ElementType::kE4m3 ? Run<__nv_fp8_e4m3>(args, device)
                                           : Run<__nv_fp8_e5m2>(args, device);
}

}  // namespace stridewise
