#include "benchmarks/harness/distribution.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stridewise {

Distribution Distribute(std::vector<double> ratios, Better better) {
  Distribution result;
  if (ratios.empty()) return result;
  const bool higher = better == Better::kHigher;
  std::sort(ratios.begin(), ratios.end());
  if (!higher) std::reverse(ratios.begin(), ratios.end());
  // The worst comes first, so that a fraction counts from there.
  const auto count = static_cast<double>(ratios.size());
  result.count = static_cast<int64_t>(ratios.size());
  result.median = Quantile(ratios, 0.5);
  result.p25 = Quantile(ratios, 0.25);
  result.p5 = Quantile(ratios, 0.05);
  result.p1 = Quantile(ratios, 0.01);
  result.worst = ratios.front();
  double logarithms = 0;
  int64_t worse = 0;
  for (const double ratio : ratios) {
    logarithms += std::log(ratio);
    worse += (higher ? ratio < 1 : ratio > 1) ? 1 : 0;
  }
  result.geomean = std::exp(logarithms / count);
  result.worse_than_1 = static_cast<double>(worse) / count;
  return result;
}

std::vector<std::string> DistributionNames() {
  return {"count", "geomean", "median", "p25", "p5", "p1", "worst", "worse_than_1"};
}

std::vector<std::string> DistributionTexts(const Distribution& d) {
  std::vector<std::string> texts = {absl::StrCat(d.count)};
  for (const double value : {d.geomean, d.median, d.p25, d.p5, d.p1, d.worst, d.worse_than_1}) {
    texts.push_back(std::isnan(value) ? "" : absl::StrFormat("%.4f", value));
  }
  return texts;
}

}  // namespace stridewise
