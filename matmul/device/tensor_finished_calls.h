// What the entries of TF32, INT8 and FP8 do with an epilogue: kernels that have one, each type's in
// a file of its own.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_CALLS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_CALLS_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {

// Queue calls that the kernels take (TakesCopies()), with the workspace that they need. C of INT8
// is float, with an epilogue or without.
LaunchStatus MatMulTf32Finished(const MatMulArgs& args, const DeviceModel& device,
                                const TensorOperands<float>& operands);
LaunchStatus MatMulInt8Finished(const MatMulArgs& args, const DeviceModel& device,
                                const TensorOperands<int8_t>& operands);
// Of e4m3 or e5m2, the same for A and B.
LaunchStatus MatMulFp8Finished(const MatMulArgs& args, const DeviceModel& device);
// Of e4m3 times e5m2 or the other way round, with an epilogue or without.
LaunchStatus MatMulFp8Mixed(const MatMulArgs& args, const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_CALLS_H_
