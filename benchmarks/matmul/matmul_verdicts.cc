#include "benchmarks/matmul/matmul_verdicts.h"

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/row_comparison.h"
#include "benchmarks/matmul/matmul_plan.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

MatMulVerdict VerdictFor(const MatMulLimit& limit, const MatMulConfig& config,
                         absl::Span<const ResultRow> rows) {
  MatMulVerdict verdict;
  verdict.limit = &limit;
  verdict.config = config;
  ResultRow problem;
  SetProblem(config, &problem);
  for (const ResultRow& row : rows) {
    if (IsOk(row) && row.Get(Column::kImplementation) == limit.implementation &&
        SameProblem(row, problem)) {
      verdict.vs_cublas = Number(row, Column::kVsCublas);
    }
  }
  verdict.verdict = Judge({{verdict.vs_cublas, limit.floor}});
  return verdict;
}

std::string ShapeText(const Shape3& shape) {
  return absl::StrCat(shape.m, "x", shape.n, "x", shape.k);
}

}  // namespace

absl::StatusOr<std::vector<MatMulVerdict>> MatMulVerdicts(absl::Span<const MatMulLimit> limits,
                                                          absl::Span<const ResultRow> rows) {
  std::vector<MatMulVerdict> verdicts;
  for (const MatMulLimit& limit : limits) {
    ASSIGN_OR_RETURN(const std::vector<MatMulConfig> plan,
                     MakeMatMulPlan({limit.name, "", {StepOf(limit)}}, {}));
    for (const MatMulConfig& config : plan) verdicts.push_back(VerdictFor(limit, config, rows));
  }
  return verdicts;
}

std::string MatMulLimitTable(absl::Span<const MatMulVerdict> verdicts) {
  std::vector<std::vector<std::string>> lines;
  for (const MatMulVerdict& v : verdicts) {
    const MatMulForm& form = v.config.form;
    lines.push_back({v.limit->name, ShapeText(v.config.shape), LayoutName(form.layout),
                     absl::StrCat(form.beta), absl::StrCat(form.batch), RatioText(v.vs_cublas),
                     LimitText(v.limit->floor), VerdictName(v.verdict)});
  }
  return LimitTable({{"case", 16, false},
                     {"shape", 17, false},
                     {"layout", 6, false},
                     {"beta", 4, true},
                     {"batch", 5, true},
                     {"vs cublas", 9, true},
                     {"floor", 5, true},
                     {"verdict", 7, false}},
                    lines);
}

std::vector<std::string> MatMulLimitHeader() {
  return {"case",  "implementation",  "rows",  "cols",   "depth", "layout", "beta",
          "batch", "ratio_to_cublas", "floor", "verdict"};
}

std::vector<std::string> MatMulLimitRecord(const MatMulVerdict& v) {
  const Shape3& shape = v.config.shape;
  const MatMulForm& form = v.config.form;
  return {v.limit->name,           v.limit->implementation,
          absl::StrCat(shape.m),   absl::StrCat(shape.n),
          absl::StrCat(shape.k),   LayoutName(form.layout),
          absl::StrCat(form.beta), absl::StrCat(form.batch),
          RatioText(v.vs_cublas),  LimitText(v.limit->floor),
          VerdictName(v.verdict)};
}

}  // namespace stridewise
