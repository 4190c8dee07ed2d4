// Whether what was measured keeps the limits of matmul_limits.h.
//
// The ratio is a row's vs_cublas: cuBLAS was sampled in turn with the implementation.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_VERDICTS_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_VERDICTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/limit_verdicts.h"
#include "benchmarks/matmul/matmul_config.h"
#include "benchmarks/matmul/matmul_limits.h"
#include "common/measure/result_row.h"

namespace stridewise {

// One limit at one of its shapes and layouts.
struct MatMulVerdict {
  const MatMulLimit* limit = nullptr;
  MatMulConfig config;
  std::optional<double> vs_cublas;  // Speed over speed; empty without a correct row that has it.
  Verdict verdict = Verdict::kNotMeasured;
};

// In the order of the limits, each with its shapes from small to large. Of several correct rows of
// a configuration the last counts. InvalidArgument if a limit names what the registry has not. The
// limits must outlive the verdicts.
absl::StatusOr<std::vector<MatMulVerdict>> MatMulVerdicts(absl::Span<const MatMulLimit> limits,
                                                          absl::Span<const ResultRow> rows);

// For people: LimitTable() of limit_verdicts.h.
std::string MatMulLimitTable(absl::Span<const MatMulVerdict> verdicts);

// The same as records of a CSV, for limits_file.h; cells of what was not measured are empty.
std::vector<std::string> MatMulLimitHeader();
std::vector<std::string> MatMulLimitRecord(const MatMulVerdict& verdict);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_MATMUL_VERDICTS_H_
