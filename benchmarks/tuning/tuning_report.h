// What a fit of `auto`'s thresholds says to people.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TUNING_REPORT_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TUNING_REPORT_H_

#include <string>

#include "absl/types/span.h"
#include "benchmarks/tuning/tuning_fit.h"

namespace stridewise {

// A line for the regret of the present thresholds and one for that of the fitted ones, what moved,
// and a table of the shapes at which the fitted ones lose most. The device is the one that `fitted`
// is of.
std::string TuningReport(absl::Span<const MatMulTimes> times, const MatMulTuning& present,
                         const MatMulTuning& fitted);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TUNING_REPORT_H_
