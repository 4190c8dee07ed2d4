// Samples of kernels whose predictions are known, for tests of what is done to them.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_KERNEL_SAMPLES_FIXTURE_H_
#define STRIDEWISE_BENCHMARKS_TUNING_KERNEL_SAMPLES_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/tuning/common_errors.h"
#include "benchmarks/tuning/fit_costs.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/cost_model.h"
#include "matmul/dispatch.h"

namespace stridewise {

// Kernels, each of which is predicted to take its `predicted_us` whatever the product.
class KernelSamplesFixture : public testing::Test {
 protected:
  void AddKernel(double predicted_us) {
    KernelSamples kernel = {&MatMulDispatchTable()[0], {}, {}, {}};
    kernel.model.costs.fixed = predicted_us;
    kernels_.push_back(kernel);
  }

  // Adds a sample to the last kernel.
  void AddSample(size_t product, double us, double weight, bool workspace = false) {
    const MatMulCall call(workspace ? with_workspace_ : args_, model_);
    kernels_.back().samples.push_back({call, {}, us, weight});
    kernels_.back().products.push_back(product);
  }

  // Makes the last kernel's predictions this many times as large.
  void Correct(float factor) {
    MatMulCorrection correction = {};
    for (float& of_leaf : correction.factors) of_leaf = factor;
    kernels_.back().model.corrections = {correction};
    kernels_.back().model.most_correction = factor;
  }

  const CostSample& Sample(size_t kernel, size_t sample) const {
    return kernels_[kernel].samples[sample];
  }

  std::vector<KernelSamples> kernels_;

 private:
  static MatMulArgs SmallArgs(int64_t workspace_bytes) {
    MatMulArgs args;
    args.m = args.n = args.k = 64;
    args.a.ld = args.b.ld = args.c.ld = 64;
    args.workspace_bytes = workspace_bytes;
    return args;
  }

  const MatMulArgs args_ = SmallArgs(0);
  const MatMulArgs with_workspace_ = SmallArgs(1);
  const DeviceModel model_ = H200Model();
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_KERNEL_SAMPLES_FIXTURE_H_
