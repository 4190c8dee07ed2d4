#include "benchmarks/matmul/axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/refused_flags.h"
#include "matmul/registry.h"

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

ABSL_FLAG(std::string, precision, "",
          "Of products of float: fp32, fp32_split, tf32, fp32_split_int8, fp32_medium, bf16 or "
          "fp16; of those of fp16, fp16_sums, and of FP8, fast_sums; or a list of them. Instead of "
          "the preset's (fp32, of most).");
ABSL_FLAG(
    std::string, epilogue, "",
    "Of products: what is applied to C: none, bias, relu, gelu (in its form with tanh), gelu_erf, "
    "bias_relu, bias_gelu or bias_gelu_erf, or a list of them. Instead of the preset's (none, of "
    "most).");

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
      return RefuseValue(flag, name, "nn, nt, tn and tt, and each with _col");
    }
    layouts.emplace_back(name);
  }
  return layouts;
}

absl::StatusOr<std::vector<std::string>> ParseFactor(absl::string_view flag,
                                                     absl::string_view text) {
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !(std::abs(value) <= kMaxFactor)) {
    return RefuseValue(flag, text, absl::StrCat("a number from ", -kMaxFactor, " to ", kMaxFactor));
  }
  ResultRow row;  // Writes 0.50 and 5e-1 the same way.
  row.Set(Column::kAlpha, value);
  return std::vector<std::string>{row.Get(Column::kAlpha)};
}

// Parses a list of names, each one of those that are allowed.
template <size_t kNames>
absl::StatusOr<std::vector<std::string>> ParseNames(
    absl::string_view flag, absl::string_view text,
    const std::array<absl::string_view, kNames>& allowed) {
  std::vector<std::string> values;
  for (absl::string_view value : absl::StrSplit(text, ',')) {
    value = absl::StripAsciiWhitespace(value);
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      return RefuseValue(flag, value, absl::StrJoin(allowed, ", "));
    }
    values.emplace_back(value);
  }
  return values;
}

absl::StatusOr<std::vector<std::string>> ParseWorkspace(absl::string_view flag,
                                                        absl::string_view text) {
  return ParseNames<2>(flag, text, {"asked", "no"});
}

absl::StatusOr<std::vector<std::string>> ParsePrecision(absl::string_view flag,
                                                        absl::string_view text) {
  std::array<absl::string_view, std::size(kAllPrecisions)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = PrecisionName(kAllPrecisions[i]);
  return ParseNames(flag, text, names);
}

absl::StatusOr<std::vector<std::string>> ParseEpilogue(absl::string_view flag,
                                                       absl::string_view text) {
  return ParseNames<8>(
      flag, text,
      {"none", "bias", "relu", "gelu", "gelu_erf", "bias_relu", "bias_gelu", "bias_gelu_erf"});
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
    {"precision", Column::kPrecision, "fp32", ParsePrecision,
     [] { return absl::GetFlag(FLAGS_precision); }},
    {"epilogue", Column::kEpilogue, "none", ParseEpilogue,
     [] { return absl::GetFlag(FLAGS_epilogue); }},
};

}  // namespace

absl::Span<const Axis> MatMulAxes() { return kAxes; }

MatMulForm FormOf(const Point& point) {
  const std::string& layout = point.axes[kLayoutAxis];
  MatMulForm form;
  form.layout = {layout[0] == 't', layout[1] == 't', layout.size() > 2};
  form.alpha = FactorOf(point.axes[kAlphaAxis]);
  form.beta = FactorOf(point.axes[kBetaAxis]);
  form.workspace = point.axes[kWorkspaceAxis] == "asked";
  for (const MatMulPrecision precision : kAllPrecisions) {
    if (point.axes[kPrecisionAxis] == PrecisionName(precision)) form.precision = precision;
  }
  const absl::string_view epilogue = point.axes[kEpilogueAxis];
  form.bias = absl::StartsWith(epilogue, "bias");
  if (absl::EndsWith(epilogue, "relu")) form.activation = Activation::kRelu;
  if (absl::EndsWith(epilogue, "gelu")) form.activation = Activation::kGelu;
  if (absl::EndsWith(epilogue, "gelu_erf")) form.activation = Activation::kGeluErf;
  return form;
}

bool HasNoEpilogue(const MatMulForm& form) {
  return !form.bias && form.activation == Activation::kNone;
}

bool IsPlain(const MatMulForm& form) {
  return !form.layout.transpose_a && !form.layout.transpose_b && form.alpha == 1 && form.beta == 0;
}

}  // namespace stridewise
