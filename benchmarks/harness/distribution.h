// Many ratios as a few numbers, from the usual case to the worst.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_DISTRIBUTION_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_DISTRIBUTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/measure/statistics.h"

namespace stridewise {

// Which ratios are good: those of speeds are high, those of times are low.
enum class Better { kHigher, kLower };

// The numbers of no ratios are NaN.
struct Distribution {
  int64_t count = 0;
  double geomean = Summary::kUnknown;
  double median = Summary::kUnknown;
  double p25 = Summary::kUnknown;  // A quarter of the ratios is worse.
  double p5 = Summary::kUnknown;   // 5 % are worse.
  double p1 = Summary::kUnknown;   // 1 % is worse.
  double worst = Summary::kUnknown;
  double worse_than_1 = Summary::kUnknown;  // The fraction of ratios that are.
};

// Returns the distribution of positive ratios in any order. Quantiles are those of Quantile().
Distribution Distribute(std::vector<double> ratios, Better better);

// Returns the names of a Distribution's fields, and their values as texts: four digits behind the
// point, empty for NaN.
std::vector<std::string> DistributionNames();
std::vector<std::string> DistributionTexts(const Distribution& distribution);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_DISTRIBUTION_H_
