// The two halves of `split_flat`, each compiled in a file of its own.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FLAT_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FLAT_H_

#include "common/gpu/device_model.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/device/split_chosen.h"

namespace stridewise {

// Queues the kernels that split operands as pairs of FP16 and multiply them under that condition.
// REQUIRES: CanSplit().
LaunchStatus MatMulPairsIfChosen(const MatMulArgs& args, const DeviceModel& device,
                                 const IfChosen& chosen);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FLAT_H_
