// What the plans of the kernels of tensor cores (matmul/device/tensor/*_plan.h) do not know:
// factors by which their predictions are multiplied, fitted to times of random products on an H100
// (docs/tuning.md). As those of cost_model.h, a factor is found by comparisons of features of the
// call and of how a plan divides it.

#ifndef STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_
#define STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/tensor_features.h"

namespace stridewise {

// Returns the microseconds that a plan predicts, corrected. `memory_us` is what memory takes alone.
// Takes some hundred nanoseconds.
double CorrectedTensorUs(TensorPredicted predicted, const MatMulArgs& args,
                         const DeviceModel& device, const PlannedTiles& division, double memory_us,
                         double us);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_
