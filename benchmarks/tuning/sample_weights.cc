#include "benchmarks/tuning/sample_weights.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "benchmarks/tuning/boost.h"
#include "benchmarks/tuning/common_errors.h"
#include "benchmarks/tuning/fit_costs.h"

namespace stridewise {
namespace {

// The least predictions for a product.
struct Least {
  double with_workspace = std::numeric_limits<double>::infinity();
  double without = std::numeric_limits<double>::infinity();
};

bool HasWorkspace(const CostSample& sample) { return sample.call.args.workspace_bytes > 0; }

}  // namespace

void WeighByPredictions(size_t products, std::vector<KernelSamples>* kernels) {
  std::vector<Least> least(products);
  std::vector<double> predicted;  // Of all samples, in order.
  for (const KernelSamples& kernel : *kernels) {
    for (size_t i = 0; i < kernel.samples.size(); ++i) {
      const double us = PredictedUs(kernel.model, kernel.samples[i]);
      predicted.push_back(us);
      Least& of_product = least[kernel.products[i]];
      of_product.with_workspace = std::min(of_product.with_workspace, us);
      if (!HasWorkspace(kernel.samples[i])) of_product.without = std::min(of_product.without, us);
    }
  }
  auto us = predicted.begin();
  for (KernelSamples& kernel : *kernels) {
    for (size_t i = 0; i < kernel.samples.size(); ++i, ++us) {
      CostSample& sample = kernel.samples[i];
      const Least& of_product = least[kernel.products[i]];
      const double best = HasWorkspace(sample) ? of_product.with_workspace : of_product.without;
      sample.weight = std::max(sample.weight, WeightOf(*us / best));
    }
  }
}

}  // namespace stridewise
