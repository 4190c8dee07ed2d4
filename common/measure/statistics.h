// Summarises timing samples without assumptions about their distribution.
//
// Kernel times are skewed (a floor, a long tail), so the centre is the median and its confidence
// interval comes from order statistics: the number of samples below the true median is binomial
// (n, 1/2) for every distribution. The samples are assumed to be independent. Results have the unit
// of the samples. A number that the samples cannot give is NaN, never 0.

#ifndef STRIDEWISE_COMMON_MEASURE_STATISTICS_H_
#define STRIDEWISE_COMMON_MEASURE_STATISTICS_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"

namespace stridewise {

// The summary of samples of a time or of any other quantity.
struct Summary {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  int64_t samples = 0;
  double min = kUnknown;
  double median = kUnknown;
  double mean = kUnknown;
  double stddev = kUnknown;  // Of the sample (n - 1): NaN for fewer than two.
  double p95 = kUnknown;
  // The 95 % confidence interval of the median. Fewer than 6 samples have none, as even (min, max)
  // misses the true median with a probability of 2^(1-n) > 5 %; the fields then hold (min, max).
  double ci_low = kUnknown;
  double ci_high = kUnknown;
};

// Returns the `fraction` quantile (0 to 1) of ascending values by linear interpolation between
// order statistics, with the minimum at 0 and the maximum at 1 (type 7 of Hyndman and Fan, the
// default of R and NumPy); NaN if there are none.
double Quantile(absl::Span<const double> ascending, double fraction);

// Returns the median of values in any order, NaN if there are none. O(n log n).
double Median(absl::Span<const double> values);

// Summarises values in any order. Precondition: no NaN among them. O(n log n).
Summary Summarize(absl::Span<const double> values);

// Returns half the width of the median's confidence interval over the median. Returns infinity
// where there is no such interval (fewer than 6 samples) or the median is not positive, so that a
// rule that stops at a small width does not stop there.
double RelativeHalfWidth(const Summary& summary);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_STATISTICS_H_
