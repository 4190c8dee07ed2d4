// How good predictions are: errors, rank correlations of ladders, and errors of steps.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_PREDICTION_QUALITY_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_PREDICTION_QUALITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "benchmarks/profile/predicted_rows.h"

namespace stridewise {

// Returns Spearman's rank correlation of two lists of the same length: 1 where they are in the same
// order. Equal values have the mean of their ranks. REQUIRES: neither list has only equal values.
double RankCorrelation(absl::Span<const double> a, absl::Span<const double> b);

// Prints how good the predictions are, and writes it to a CSV file. One that is there is kept as
// .bak.
absl::Status WritePredictionQuality(const std::string& path, const std::vector<PredictedRow>& rows);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_PREDICTION_QUALITY_H_
