// Whether what was measured keeps the limits of transpose_limits.h.
//
// Every row's pct_of_copy is the speed over that of the vectorised copy that was sampled in turn
// with it. So a ratio of two implementations is the quotient of their pct_of_copy, and not of two
// times that were measured minutes apart.

#ifndef STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_VERDICTS_H_
#define STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_VERDICTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/limit_verdicts.h"
#include "benchmarks/transpose/transpose_limits.h"
#include "benchmarks/transpose/transpose_plan.h"
#include "common/measure/result_row.h"

namespace stridewise {

// One limit at one of its shapes and types.
struct TransposeVerdict {
  const TransposeLimit* limit = nullptr;
  TransposeConfig config;
  std::optional<double> vs_memcpy;  // Speed over speed; empty without a correct row of both.
  std::optional<double> vs_cublas;  // Empty too where the limit asks for none.
  Verdict verdict = Verdict::kNotMeasured;
};

// In the order of the limits, each with its shapes in their order. Of several correct rows of a
// configuration the last counts, beside memcpy's and cublas_geam's with the same l2 and
// host_memory. InvalidArgument if a limit names what the registry has not. The limits must outlive
// the verdicts.
absl::StatusOr<std::vector<TransposeVerdict>> TransposeVerdicts(
    absl::Span<const TransposeLimit> limits, absl::Span<const ResultRow> rows);

// For people: LimitTable() of limit_verdicts.h.
std::string TransposeLimitTable(absl::Span<const TransposeVerdict> verdicts);

// The same as records of a CSV, for limits_file.h; cells of what was not measured are empty.
std::vector<std::string> TransposeLimitHeader();
std::vector<std::string> TransposeLimitRecord(const TransposeVerdict& verdict);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TRANSPOSE_TRANSPOSE_VERDICTS_H_
