// How tensor_int8 calls the kernel of split.h.

#ifndef STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_CALL_H_
#define STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_CALL_H_

#include <cstdint>

#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/device/int8/split_plan.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {

// Queues a call with C of INT32 that the kernel takes (TakesCopies()), with the workspace that its
// operands' copies need.
LaunchStatus MatMulInt8Split(const MatMulArgs& args, const DeviceModel& device,
                             const Int8SplitPlan& plan, const TensorOperands<int8_t>& operands);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_CALL_H_
