// From measured times to the constants of one kernel (matmul/cost_model.h): arithmetic only.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_

#include <vector>

#include "absl/types/span.h"
#include "matmul/cost_model.h"

namespace stridewise {

// One call of a kernel, and its measured time.
struct CostSample {
  MatMulCall call;
  MatMulWork work;
  double us;
  double weight;  // How much an error counts.
};

// Returns the constants, none negative, with the least weighted sum of squares of log(predicted /
// measured) that Gauss-Newton steps find from the best constants of a sum without overlap. The same
// samples give the same constants.
MatMulCosts FitCosts(absl::Span<const CostSample> samples);

struct CorrectionOptions {
  int count = 56;
  double rate = 0.4;
  double damping = 6;  // A part's mean error is trusted by half at this sum of weights.
};

// Returns the corrections that boosting finds, one after the other: each halves the samples by four
// questions, the same for all parts, that reduce the squared errors most, and corrects each part by
// its mean error, damped where it has few samples and by a rate below 1.
// Those of `start` are applied first.
std::vector<MatMulCorrection> FitCorrections(const MatMulCostModel& start,
                                             absl::Span<const CostSample> samples,
                                             const CorrectionOptions& options);

// Returns both, and the range of the corrections at the samples. With a model to start from,
// returns that with more corrections.
MatMulCostModel FitCostModel(absl::Span<const CostSample> samples, const CorrectionOptions& options,
                             const MatMulCostModel* start = nullptr);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_
