// Repeats a measurement until its median is known well enough or its time is used up.
//
// First it warms up until the clock is steady: a GPU that was idle raises its clock over many runs,
// and those would be slow samples. Then it samples until the relative half-width of the median's 95
// % confidence interval (statistics.h) is at most max_noise. A reference, where there is one, is
// sampled in turn with the subject, so that both see the same clock, temperature and neighbours;
// pairs alternate in order, so that neither always runs in the other's wake.

#ifndef STRIDEWISE_COMMON_MEASURE_SAMPLER_H_
#define STRIDEWISE_COMMON_MEASURE_SAMPLER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/clock.h"

namespace stridewise {

// When to stop.
struct SamplingOptions {
  double max_noise = 0.01;
  // Wall-clock time of the sampling, whatever a run spends outside what it measures included. At
  // least one sample is taken, and the one under way when the time is up is finished.
  double max_seconds = 1.0;
  int min_samples = 7;  // Before max_noise is believed; not before max_seconds is.
  int max_samples = 10000;
  double max_warmup_seconds = 0.25;  // At least one warm-up run is made.
};

// Runs once what is measured and returns its time in milliseconds, finite and not negative.
using Measure = std::function<absl::StatusOr<double>()>;

// What was measured, and how it ended.
struct Samples {
  std::vector<double> ms;
  std::vector<double>
      reference_ms;        // As many as `ms`, taken beside them; none without a reference.
  bool converged = false;  // The noise is within max_noise.
  bool interrupted = false;
  int warmup_runs = 0;  // Of the subject; a reference is warmed up by one more run of its own.
};

// Samples `subject`. With a `reference` (may be empty), the median of the paired ratios must be
// known to max_noise too. `interrupted` (may be empty) is asked before each run of the warm-up and
// before each sample; once it says true, what was taken so far is returned, which may be nothing.
//
// Returns the first error of a measurement, InternalError for a time that is negative or not
// finite, and InvalidArgument for options that make no sense. Deciding when to stop costs O(n log
// n) in all, as the summary is made anew only when the samples have grown by a tenth.
absl::StatusOr<Samples> Sample(const SamplingOptions& options, const Clock& clock,
                               const Measure& subject, const Measure& reference,
                               const std::function<bool()>& interrupted);

// Returns how much faster the subject is than its reference: the median of reference_ms[i] / ms[i]
// over the pairs with a positive ms. NaN if there is none.
double PairedRatio(const Samples& samples);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_SAMPLER_H_
