// What constants alone do not predict: corrections by the call's features, found by boosting.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_

#include <vector>

#include "absl/types/span.h"
#include "benchmarks/tuning/fit_costs.h"
#include "matmul/cost_model.h"

namespace stridewise {

struct CorrectionOptions {
  int count = 150;
  double rate = 0.3;
  double damping = 6;  // A part's mean error is trusted by half at this sum of weights.
};

// Returns the corrections that boosting finds, one after the other: each halves the samples by four
// questions, the same for all parts, that reduce the squared errors most, and corrects each part by
// its mean error, damped where it has few samples and by a rate below 1.
// Those of `start` are applied first.
std::vector<MatMulCorrection> FitCorrections(const MatMulCostModel& start,
                                             absl::Span<const CostSample> samples,
                                             const CorrectionOptions& options);

// Returns constants and corrections, and the range of the corrections at the samples. With a model
// to start from, returns that with more corrections.
MatMulCostModel FitCostModel(absl::Span<const CostSample> samples, const CorrectionOptions& options,
                             const MatMulCostModel* start = nullptr);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_
