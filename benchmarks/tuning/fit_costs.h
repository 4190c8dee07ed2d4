// From measured times to the constants of one kernel (matmul/cost_model.h): arithmetic only.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_

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

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_FIT_COSTS_H_
