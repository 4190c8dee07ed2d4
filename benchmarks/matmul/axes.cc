#include "benchmarks/matmul/axes.h"

#include <cmath>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

ABSL_FLAG(std::string, layouts, "",
          "Of products: how the operands are stored, instead of the preset's (nn, of most): a list "
          "of nn, nt, tn and tt, t for transposed, A's first; with _col, as in tn_col, for "
          "column-major matrices.");
ABSL_FLAG(std::string, alpha, "",
          "Of products: C = alpha * A * B + beta * C. Instead of the preset's (1, of most).");
ABSL_FLAG(std::string, beta, "", "As --alpha. Instead of the preset's (0, of most).");
ABSL_FLAG(
    std::string, workspace, "",
    "Of products: asked, for as much workspace as an implementation asks for, or no, for none; "
    "or both, as a list. Instead of the preset's (asked, of most).");

namespace stridewise {
namespace {

constexpr double kMaxFactor = 1e30;

bool IsOp(char name) { return name == 'n' || name == 't'; }

absl::StatusOr<std::vector<std::string>> ParseLayouts(absl::string_view flag,
                                                      absl::string_view text) {
  std::vector<std::string> layouts;
  for (absl::string_view name : absl::StrSplit(text, ',')) {
    name = absl::StripAsciiWhitespace(name);
    absl::string_view ops = name;
    absl::ConsumeSuffix(&ops, "_col");
    if (ops.size() != 2 || !IsOp(ops[0]) || !IsOp(ops[1])) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, ": '", name, "' is not allowed; allowed is nn, nt, tn and tt, and each with _col"));
    }
    layouts.emplace_back(name);
  }
  return layouts;
}

absl::StatusOr<std::vector<std::string>> ParseFactor(absl::string_view flag,
                                                     absl::string_view text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(std::abs(value) <= kMaxFactor)) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": '", text,
                                                   "' is not allowed; allowed is a number from ",
                                                   -kMaxFactor, " to ", kMaxFactor));
  }
  ResultRow row;  // Writes 0.50 and 5e-1 the same way.
  row.Set(Column::kAlpha, value);
  return std::vector<std::string>{row.Get(Column::kAlpha)};
}

absl::StatusOr<std::vector<std::string>> ParseWorkspace(absl::string_view flag,
                                                        absl::string_view text) {
  std::vector<std::string> values;
  for (absl::string_view value : absl::StrSplit(text, ',')) {
    value = absl::StripAsciiWhitespace(value);
    if (value != "asked" && value != "no") {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": '", value, "' is not allowed; allowed is asked or no"));
    }
    values.emplace_back(value);
  }
  return values;
}

double FactorOf(const std::string& value) {
  double factor = 0;
  (void)absl::SimpleAtod(value, &factor);
  return factor;
}

constexpr Axis kAxes[] = {
    {"layouts", Column::kLayout, "nn", ParseLayouts, [] { return absl::GetFlag(FLAGS_layouts); }},
    {"alpha", Column::kAlpha, "1", ParseFactor, [] { return absl::GetFlag(FLAGS_alpha); }},
    {"beta", Column::kBeta, "0", ParseFactor, [] { return absl::GetFlag(FLAGS_beta); }},
    {"workspace", Column::kWorkspace, "asked", ParseWorkspace,
     [] { return absl::GetFlag(FLAGS_workspace); }},
};

}  // namespace

absl::Span<const Axis> MatMulAxes() { return kAxes; }

MatMulForm FormOf(const Point& point) {
  const std::string& layout = point.axes[0];
  MatMulForm form;
  form.layout = {layout[0] == 't', layout[1] == 't', layout.size() > 2};
  form.alpha = FactorOf(point.axes[1]);
  form.beta = FactorOf(point.axes[2]);
  form.workspace = point.axes[3] == "asked";
  return form;
}

bool IsPlain(const MatMulForm& form) {
  return !form.layout.transpose_a && !form.layout.transpose_b && form.alpha == 1 && form.beta == 0;
}

}  // namespace stridewise
