#include "common/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stridewise {
namespace {

constexpr int64_t kFewestForInterval = 6;

// Returns the rank r, counted from 1, with which (r, n + 1 - r) is the narrowest symmetric interval
// of order statistics that holds the median with a probability of at least 95 %: the largest r with
// P(Binomial(n, 1/2) < r) <= 2.5 %. At least 1. n >= 1.
int64_t LowerRankOfMedian(int64_t n) {
  constexpr int64_t kExactUpTo = 100;
  if (n > kExactUpTo) {
    // The normal approximation with continuity correction: the exact rank or, for about one n in a
    // hundred, one less, which is the safe side.
    constexpr double kHalfOfZ = 1.959963985 / 2;
    const double count = static_cast<double>(n);
    return static_cast<int64_t>(std::floor(count / 2 + 0.5 - kHalfOfZ * std::sqrt(count)));
  }
  double probability = std::ldexp(1.0, -static_cast<int>(n));  // Of exactly `below` values below.
  double at_most = 0;
  int64_t below = 0;
  for (; at_most + probability <= 0.025; ++below) {
    at_most += probability;
    probability *= static_cast<double>(n - below) / static_cast<double>(below + 1);
  }
  return std::max<int64_t>(below, 1);
}

std::vector<double> Sorted(absl::Span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double Quantile(absl::Span<const double> ascending, double fraction) {
  if (ascending.empty()) return Summary::kUnknown;
  const double position = fraction * static_cast<double>(ascending.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const double weight = position - static_cast<double>(below);
  return ascending[below] + weight * (ascending[above] - ascending[below]);
}

double Median(absl::Span<const double> values) { return Quantile(Sorted(values), 0.5); }

Summary Summarize(absl::Span<const double> values) {
  Summary summary;
  if (values.empty()) return summary;
  const std::vector<double> sorted = Sorted(values);
  const int64_t n = static_cast<int64_t>(sorted.size());

  summary.samples = n;
  summary.min = sorted.front();
  summary.median = Quantile(sorted, 0.5);
  summary.p95 = Quantile(sorted, 0.95);

  double sum = 0;
  for (const double value : sorted) sum += value;
  summary.mean = sum / static_cast<double>(n);
  if (n >= 2) {
    double squares = 0;
    for (const double value : sorted) squares += (value - summary.mean) * (value - summary.mean);
    summary.stddev = std::sqrt(squares / static_cast<double>(n - 1));
  }

  const int64_t rank = LowerRankOfMedian(n);
  summary.ci_low = sorted[rank - 1];
  summary.ci_high = sorted[n - rank];
  return summary;
}

double RelativeHalfWidth(const Summary& summary) {
  if (summary.samples < kFewestForInterval || !(summary.median > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  return (summary.ci_high - summary.ci_low) / 2 / summary.median;
}

}  // namespace stridewise
