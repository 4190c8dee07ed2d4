// Whether what was measured keeps an operation's limits.
//
// A limit compares ratios of speeds with floors. The two speeds of a ratio were sampled in turn,
// with each other or with the same third: the same clock, temperature and neighbours.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/plan.h"
#include "common/measure/result_row.h"

namespace stridewise {

enum class Verdict { kPass, kFail, kNotMeasured };

// "pass", "FAIL" and, not measured, nothing.
const char* VerdictName(Verdict verdict);

// One limit at one of its points.
struct LimitVerdict {
  const Limit* limit = nullptr;
  Config config;
  std::vector<std::optional<double>> ratios;  // Of each floor; empty without correct rows for it.
  Verdict verdict = Verdict::kNotMeasured;
  std::string git_commit;  // Of the judged row; empty without one.
};

// Returns a verdict for each limit of the preset at each of its points, in the order of the limits.
// Of several correct rows of a configuration the last counts. A ratio is the row's own column for
// that peer or, where it was paired with another, the quotient of both rows' columns for a third
// that both were paired with, under the same l2 and host_memory. A ratio below its floor fails; one
// that is missing leaves the limit not measured. InvalidArgument if a limit names what the registry
// has not. The operation must outlive the verdicts.
absl::StatusOr<std::vector<LimitVerdict>> JudgeLimits(const Operation& operation,
                                                      absl::Span<const ResultRow> rows,
                                                      absl::string_view preset = kLimitsPreset);

// Returns a table for people, a line a verdict, "-" where a cell is empty, and a line that counts
// the verdicts.
std::string LimitTable(const Operation& operation, absl::Span<const LimitVerdict> verdicts,
                       absl::string_view preset = kLimitsPreset);

// Returns the same as records of a CSV, the header first; cells of what was not measured are empty.
std::vector<std::vector<std::string>> LimitRecords(const Operation& operation,
                                                   absl::Span<const LimitVerdict> verdicts,
                                                   absl::string_view preset = kLimitsPreset);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_LIMITS_H_
