// Repeats a measurement until its median is known well enough or its time is used up.
//
// First it warms up until the clock is steady: a GPU that was idle raises its clock over many runs,
// which would be slow samples. Then it samples until the relative half-width of the median's 95 %
// confidence interval (statistics.h) is at most max_noise. Samples of a reference, if there is one,
// alternate with those of the subject, so that both see the same clock, temperature and other load.
// The order within a pair alternates too, so that neither always runs after the other.

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
  // Wall-clock time of the sampling, including what a run spends outside of the measured time. At
  // least one sample is taken, and a sample under way when the time is up is finished.
  double max_seconds = 1.0;
  // Until min_samples pairs with a reference are there, max_seconds is this much at least.
  double min_seconds_of_pairs = 0;
  int min_samples = 7;  // Before max_noise may stop the sampling; max_seconds may stop it earlier.
  int max_samples = 10000;
  double max_warmup_seconds = 0.25;  // At least one warm-up run is made.
};

// Runs the measured work once and returns its time in milliseconds, finite and not negative.
using Measure = std::function<absl::StatusOr<double>()>;

// What was measured, and how it ended.
struct Samples {
  std::vector<double> ms;
  std::vector<double> reference_ms;  // The reference's of each pair; empty without a reference.
  bool converged = false;            // The noise is within max_noise.
  bool interrupted = false;
  int warmup_runs = 0;  // Of the subject; a reference has one warm-up run of its own.
};

// Samples `subject`. With a `reference` (may be empty), the median of the paired ratios must be
// known to max_noise too. `interrupted` (may be empty) is asked before each run of the warm-up and
// before each sample; once it returns true, the samples so far are returned, which may be none.
//
// Returns the first error of a measurement, Internal for a time that is negative or not finite, and
// InvalidArgument for options that make no sense. Deciding when to stop costs O(n log n) in all, as
// the summary is computed again only when the number of samples has grown by a tenth.
absl::StatusOr<Samples> Sample(const SamplingOptions& options, const Clock& clock,
                               const Measure& subject, const Measure& reference,
                               const std::function<bool()>& interrupted);

// Returns how much faster the subject is than its reference: the median of reference_ms[i] / ms[i]
// over the pairs with a positive ms, of an even number the geometric mean of the two in the middle,
// so that exchanging the sides inverts it. NaN if there is none.
double PairedRatio(const Samples& samples);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_SAMPLER_H_
