// From measured times to the thresholds of `auto`: arithmetic only, no device.
//
// The regret of thresholds is the mean, over the shapes, of log(time of what the dispatch table
// chooses by them / time of the best measured): 0 where every choice is the best.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TUNING_FIT_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TUNING_FIT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {

// One multiplication, and the milliseconds of each implementation that has a correct result.
struct MatMulTimes {
  MatMulArgs args;
  std::map<std::string, double> ms;
};

// What the dispatch table runs for a multiplication, and what would be best.
struct TuningChoice {
  const MatMulTimes* times = nullptr;
  std::string chosen;
  std::optional<double> chosen_ms;  // None where it was not measured, or failed.
  std::string best;
  double best_ms = 0;
};

// In the order of `times`, which the choices point into; without those of which nothing was
// measured.
std::vector<TuningChoice> TuningChoices(absl::Span<const MatMulTimes> times, int compute_capability,
                                        const MatMulTuning& tuning);

struct TuningRegret {
  int shapes = 0;      // Of which something was measured.
  int unmeasured = 0;  // Those of them whose choice has no time.
  double total = 0;    // The sum of the logarithms over the others.
};

// How many times as long as the best the choices take: the geometric mean, 1 at least.
double MeanSlowdown(const TuningRegret& regret);

TuningRegret RegretOf(absl::Span<const MatMulTimes> times, int compute_capability,
                      const MatMulTuning& tuning);

// The thresholds with the least regret that a coordinate search from `present` finds. Choices
// without a time count more than any regret: an implementation that failed or was not measured is
// not chosen where another can be. The search moves two neighbouring thresholds at a time (squares
// alone would pin one by the other) over 57 values of each, evenly spaced in the logarithm of their
// range, to the best of them and of several as good to the nearest; and only where each that moves
// gains more than the noise of a row. So ties keep what is there, the result never has more regret
// than `present`, and the same times give the same result.
MatMulTuning FitTuning(absl::Span<const MatMulTimes> times, int compute_capability,
                       const MatMulTuning& present);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TUNING_FIT_H_
