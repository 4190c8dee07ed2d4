#include "benchmarks/tuning/tuning_report.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

constexpr size_t kWorstShapes = 8;

std::string ShapeText(const MatMulArgs& args) {
  std::string text = absl::StrCat(args.m, "x", args.n, "x", args.k);
  if (args.batch > 1) absl::StrAppend(&text, " x ", args.batch);
  return text;
}

std::string RegretLine(absl::string_view which, const TuningRegret& regret) {
  std::string line = absl::StrFormat(
      "auto by the %s thresholds takes %.4f times as long as the best measured (mean of %d shapes)",
      which, MeanSlowdown(regret), regret.shapes - regret.unmeasured);
  if (regret.unmeasured > 0) {
    absl::StrAppend(&line, "; what it chooses at ", regret.unmeasured, " more has no time");
  }
  return line + "\n";
}

std::string MovedLine(const MatMulTuning& present, const MatMulTuning& fitted) {
  std::string moved;
  for (const MatMulThreshold& threshold : MatMulThresholds()) {
    const int64_t from = present.*threshold.value;
    const int64_t to = fitted.*threshold.value;
    if (from == to) continue;
    absl::StrAppend(&moved, moved.empty() ? "" : ", ", threshold.name, " from ", from, " to ", to);
  }
  return moved.empty() ? "No threshold moves.\n" : absl::StrCat("Moved: ", moved, ".\n");
}

// One without a time is the worst.
double Slowdown(const TuningChoice& choice) {
  return choice.chosen_ms.has_value() ? *choice.chosen_ms / choice.best_ms
                                      : std::numeric_limits<double>::infinity();
}

std::string Ms(std::optional<double> ms) {
  return ms.has_value() ? absl::StrFormat("%.4f", *ms) : "-";
}

// Empty where the best is chosen everywhere.
std::string WorstShapes(std::vector<TuningChoice> choices) {
  const auto is_best = [](const TuningChoice& choice) { return Slowdown(choice) == 1; };
  choices.erase(std::remove_if(choices.begin(), choices.end(), is_best), choices.end());
  if (choices.empty()) return "";
  std::stable_sort(
      choices.begin(), choices.end(),
      [](const TuningChoice& a, const TuningChoice& b) { return Slowdown(a) > Slowdown(b); });
  std::ostringstream out;
  Table table({{"worst shapes", 20, false},
               {"chosen", 16, false},
               {"ms", 9, true},
               {"best", 16, false},
               {"ms", 9, true},
               {"ratio", 6, true}},
              &out);
  table.PrintHeader();
  for (size_t i = 0; i < std::min(kWorstShapes, choices.size()); ++i) {
    const TuningChoice& choice = choices[i];
    table.PrintRow(
        {ShapeText(choice.times->args), choice.chosen, Ms(choice.chosen_ms), choice.best,
         Ms(choice.best_ms),
         choice.chosen_ms.has_value() ? absl::StrFormat("%.3f", Slowdown(choice)) : "-"});
  }
  return out.str();
}

}  // namespace

std::string TuningReport(absl::Span<const MatMulTimes> times, const MatMulTuning& present,
                         const MatMulTuning& fitted) {
  const int compute_capability = static_cast<int>(fitted.compute_capability);
  return absl::StrCat(RegretLine("present", RegretOf(times, compute_capability, present)),
                      RegretLine("fitted", RegretOf(times, compute_capability, fitted)),
                      MovedLine(present, fitted),
                      WorstShapes(TuningChoices(times, compute_capability, fitted)));
}

}  // namespace stridewise
