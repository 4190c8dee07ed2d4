// What the plans of the kernels of tensor cores predict, before the corrections that they are given
// (matmul/tensor_corrections.h): a program that links this defines CorrectedTensorUs() by it, and
// must not link //matmul:tensor_corrections.

#ifndef STRIDEWISE_MATMUL_TENSOR_PLANS_H_
#define STRIDEWISE_MATMUL_TENSOR_PLANS_H_

#include <string>
#include <vector>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/tensor_features.h"

namespace stridewise {

// A division that a plan thought of.
struct TensorPrediction {
  TensorPredicted predicted;
  TensorFeatures features;
  double us;         // Without corrections.
  double corrected;  // With those that are built in.
};

// Returns the kernels whose plans are known.
std::vector<std::string> PlannedTensorKernels();

// Returns what the kernel, an implementation of the registry, divides a call among, the best
// division first, of which it takes that; empty where it leaves the call to another kernel.
std::vector<TensorPrediction> PredictionsOf(const std::string& kernel, const MatMulArgs& args,
                                            const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_PLANS_H_
