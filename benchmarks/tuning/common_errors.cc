#include "benchmarks/tuning/common_errors.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace stridewise {
namespace {

constexpr double kDamping = 1;  // The weight of the error of 0.
constexpr double kPower = 4;    // Only kernels that are about as fast as the best have a say.

struct Sum {
  double error = 0;
  double weight = kDamping;
};

}  // namespace

double PredictedUs(const MatMulCostModel& model, const CostSample& sample) {
  MatMulFeatures features;
  SetCallFeatures(sample.call, &features);
  SetKernelFeatures(model.costs, sample.work, &features);
  return UncorrectedUs(model.costs, sample.work) * CorrectionOf(model, features);
}

void DivideByCommonErrors(size_t products, std::vector<KernelSamples>* kernels) {
  std::vector<Sum> sums(products);
  for (const KernelSamples& kernel : *kernels) {
    for (size_t i = 0; i < kernel.samples.size(); ++i) {
      const CostSample& sample = kernel.samples[i];
      const double weight = std::pow(sample.weight, kPower);
      Sum& sum = sums[kernel.products[i]];
      sum.error += weight * std::log(sample.us / PredictedUs(kernel.model, sample));
      sum.weight += weight;
    }
  }
  for (KernelSamples& kernel : *kernels) {
    for (size_t i = 0; i < kernel.samples.size(); ++i) {
      const Sum& sum = sums[kernel.products[i]];
      kernel.samples[i].us *= std::exp(-sum.error / sum.weight);
    }
  }
}

}  // namespace stridewise
