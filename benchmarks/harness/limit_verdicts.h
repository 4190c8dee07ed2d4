// Whether what was measured keeps a limit: what the limits of transposes and of products share.
//
// A limit holds ratios of speeds to floors. The two speeds of a ratio were sampled in turn, with
// each other or with the same third: the same clock, temperature and neighbours.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_LIMIT_VERDICTS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_LIMIT_VERDICTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/table.h"

namespace stridewise {

enum class Verdict { kPass, kFail, kNotMeasured };

// "pass", "FAIL" and, not measured, nothing.
std::string VerdictName(Verdict verdict);

struct LimitedRatio {
  std::optional<double> ratio;  // Empty without a correct row of both sides.
  double floor = 0;             // 0 for none.
};

// A ratio below its floor fails, whatever is missing beside it; one that has a floor and was not
// measured leaves the limit not measured.
Verdict Judge(absl::Span<const LimitedRatio> ratios);

// Cells: a ratio to four digits, a limit as it was written. Empty for nothing, and a limit of 0.
std::string RatioText(const std::optional<double>& ratio);
std::string LimitText(double limit);

// A table, a line a verdict, "-" where a cell is empty, and a line that counts them. Each line ends
// with its verdict's name.
std::string LimitTable(const std::vector<TableColumn>& columns,
                       absl::Span<const std::vector<std::string>> lines);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_LIMIT_VERDICTS_H_
