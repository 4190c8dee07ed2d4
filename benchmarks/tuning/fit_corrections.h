// What constants alone do not predict: corrections by the call's features, found by boosting.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_

#include <vector>

#include "absl/types/span.h"
#include "benchmarks/tuning/boost.h"
#include "benchmarks/tuning/fit_costs.h"
#include "matmul/cost_model.h"

namespace stridewise {

// Returns the corrections that BoostTables() finds for what `start` leaves.
std::vector<MatMulCorrection> FitCorrections(const MatMulCostModel& start,
                                             absl::Span<const CostSample> samples,
                                             const CorrectionOptions& options);

// Returns constants and corrections, and the range of the corrections at the samples. With a model
// to start from, returns that with more corrections.
MatMulCostModel FitCostModel(absl::Span<const CostSample> samples, const CorrectionOptions& options,
                             const MatMulCostModel* start = nullptr);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_FIT_CORRECTIONS_H_
