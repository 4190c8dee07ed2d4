// What the predictions for all fast kernels of a product have in common does not change which of
// them is chosen: it is taken out of the times before a tuning is fitted.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_COMMON_ERRORS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_COMMON_ERRORS_H_

#include <cstddef>
#include <vector>

#include "benchmarks/tuning/fit_costs.h"
#include "matmul/cost_model.h"
#include "matmul/dispatch.h"

namespace stridewise {

// The samples of a kernel, the number of the product of each, and what was fitted to them.
struct KernelSamples {
  const MatMulDispatch* row;
  std::vector<CostSample> samples;
  std::vector<size_t> products;
  MatMulCostModel model;
};

// Returns the time that a model predicts for a sample, corrections included.
double PredictedUs(const MatMulCostModel& model, const CostSample& sample);

// Divides the times of each of `products` products by the error that all of its fast kernels have
// in common: their mean of log(measured / predicted), weighted by the fourth power of a sample's
// weight, with one more error of 0 and weight 1, so that a single kernel's error counts by half.
// Times of slow kernels, which count for little there, are divided by the same.
void DivideByCommonErrors(size_t products, std::vector<KernelSamples>* kernels);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_COMMON_ERRORS_H_
