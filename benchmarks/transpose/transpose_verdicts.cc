#include "benchmarks/transpose/transpose_verdicts.h"

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Whether the row is a correct one of the implementation for the configuration's problem.
bool IsRowOf(const ResultRow& row, absl::string_view implementation,
             const TransposeConfig& config) {
  const std::string batch = config.batch > 1 ? absl::StrCat(config.batch) : "";
  return IsOk(row) && row.Get(Column::kImplementation) == implementation &&
         row.Get(Column::kDtype) == config.type.name &&
         row.Get(Column::kRows) == absl::StrCat(config.shape.rows) &&
         row.Get(Column::kCols) == absl::StrCat(config.shape.cols) &&
         row.Get(Column::kBatch) == batch;
}

bool SameConditions(const ResultRow& a, const ResultRow& b) {
  return a.Get(Column::kL2) == b.Get(Column::kL2) &&
         a.Get(Column::kHostMemory) == b.Get(Column::kHostMemory);
}

// How many times the speed of `other` the row's is.
std::optional<double> RatioTo(absl::string_view other, const ResultRow& row,
                              const TransposeConfig& config, absl::Span<const ResultRow> rows) {
  std::optional<double> its_share;
  for (const ResultRow& candidate : rows) {
    if (!IsRowOf(candidate, other, config) || !SameConditions(candidate, row)) continue;
    its_share = Number(candidate, Column::kPctOfCopy);
  }
  const std::optional<double> share = Number(row, Column::kPctOfCopy);
  if (!share.has_value() || its_share.value_or(0) <= 0) return std::nullopt;
  return *share / *its_share;
}

TransposeVerdict VerdictFor(const TransposeLimit& limit, const TransposeConfig& config,
                            absl::Span<const ResultRow> rows) {
  TransposeVerdict verdict;
  verdict.limit = &limit;
  verdict.config = config;
  const ResultRow* last = nullptr;
  for (const ResultRow& row : rows) {
    if (IsRowOf(row, limit.implementation, config)) last = &row;
  }
  if (last != nullptr) {
    verdict.vs_memcpy = RatioTo("memcpy", *last, config, rows);
    if (limit.floor_vs_cublas > 0) {
      verdict.vs_cublas = RatioTo("cublas_geam", *last, config, rows);
    }
  }
  verdict.verdict =
      Judge({{verdict.vs_memcpy, limit.floor}, {verdict.vs_cublas, limit.floor_vs_cublas}});
  return verdict;
}

}  // namespace

absl::StatusOr<std::vector<TransposeVerdict>> TransposeVerdicts(
    absl::Span<const TransposeLimit> limits, absl::Span<const ResultRow> rows) {
  std::vector<TransposeVerdict> verdicts;
  for (const TransposeLimit& limit : limits) {
    const TransposePresetStep step = {limit.implementation, limit.sizes, limit.shapes, "",
                                      limit.types,          kMaxExtent,  limit.batch};
    ASSIGN_OR_RETURN(const std::vector<TransposeConfig> plan,
                     MakeTransposePlan({limit.name, "", {step}}, {}));
    for (const TransposeConfig& config : plan) {
      verdicts.push_back(VerdictFor(limit, config, rows));
    }
  }
  return verdicts;
}

std::string TransposeLimitTable(absl::Span<const TransposeVerdict> verdicts) {
  std::vector<std::vector<std::string>> lines;
  for (const TransposeVerdict& v : verdicts) {
    lines.push_back({v.limit->name, absl::StrCat(v.config.shape.rows, "x", v.config.shape.cols),
                     v.config.type.name, absl::StrCat(v.config.batch), RatioText(v.vs_memcpy),
                     LimitText(v.limit->floor), LimitText(v.limit->aim), RatioText(v.vs_cublas),
                     LimitText(v.limit->floor_vs_cublas), VerdictName(v.verdict)});
  }
  return LimitTable({{"case", 24, false},
                     {"shape", 17, false},
                     {"type", 6, false},
                     {"batch", 6, true},
                     {"vs memcpy", 9, true},
                     {"floor", 5, true},
                     {"aim", 5, true},
                     {"vs cublas", 9, true},
                     {"floor", 5, true},
                     {"verdict", 7, false}},
                    lines);
}

std::vector<std::string> TransposeLimitHeader() {
  return {"case",
          "implementation",
          "rows",
          "cols",
          "dtype",
          "batch",
          "ratio_to_memcpy",
          "floor",
          "aim",
          "ratio_to_cublas_geam",
          "floor_vs_cublas_geam",
          "verdict"};
}

std::vector<std::string> TransposeLimitRecord(const TransposeVerdict& v) {
  return {v.limit->name,
          v.limit->implementation,
          absl::StrCat(v.config.shape.rows),
          absl::StrCat(v.config.shape.cols),
          v.config.type.name,
          absl::StrCat(v.config.batch),
          RatioText(v.vs_memcpy),
          LimitText(v.limit->floor),
          LimitText(v.limit->aim),
          RatioText(v.vs_cublas),
          LimitText(v.limit->floor_vs_cublas),
          VerdictName(v.verdict)};
}

}  // namespace stridewise
