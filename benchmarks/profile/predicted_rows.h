// The rows of result files whose times are predicted, beside the predictions.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_ROWS_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_ROWS_H_

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/executor/predict/predict_time.h"

namespace stridewise {

// A measured run of a kernel, and its prediction.
struct PredictedRow {
  std::string file, table, operation, kernel, type, rows, cols, depth, block_x, block_y;
  std::string machine;  // As machine models are named.
  std::string half;     // "fitted", "judged", "left out" or "document".
  double measured_ms = 0;
  executor::Prediction predicted;

  double ratio() const { return predicted.ms / measured_ms; }
  double error() const { return std::abs(ratio() - 1); }
};

// Appends the predictions for the plain runs of the ladders' kernels in the file at `path`. The
// first row of a configuration counts, in all files that share `seen`.
absl::Status AppendPredictions(const std::string& path, std::set<std::string>* seen,
                               std::vector<PredictedRow>* all);

// Writes the rows to a CSV file. One that is there is kept as .bak.
absl::Status WritePredictions(const std::string& path, const std::vector<PredictedRow>& rows);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_PREDICTED_ROWS_H_
