// The factors of tensor_corrections.h, apart from what looks them up for a plan: a fit starts from
// them (benchmarks/tuning/tensor_tune.cc).

#ifndef STRIDEWISE_MATMUL_TENSOR_TABLES_H_
#define STRIDEWISE_MATMUL_TENSOR_TABLES_H_

#include "absl/types/span.h"
#include "matmul/factor_table.h"
#include "matmul/tensor_features.h"

namespace stridewise {

using TensorTable = FactorTable<TensorFeature>;

// Returns the tables of what is predicted.
absl::Span<const TensorTable> TensorTablesOf(TensorPredicted predicted);

// All factors of a prediction together are at most this, and at least one over it: so it is in the
// fit.
inline constexpr double kMostTensorFactor = 2.72;

// Returns whether a prediction has factors. Products of tiles that last longer than 400 us are
// bound by power, which a few samples do not show.
constexpr bool HasTensorFactor(TensorPredicted predicted, double us) {
  constexpr double kHuge = 1e9;  // Says that there is no plan.
  constexpr double kMostOfTiles = 400;
  return us < kHuge && (predicted > TensorPredicted::kClustered || us <= kMostOfTiles);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_TABLES_H_
