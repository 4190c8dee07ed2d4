#include "benchmarks/harness/limit_verdicts.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stridewise {

std::string VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "FAIL";
    case Verdict::kNotMeasured:
      return "";
  }
  return "";
}

Verdict Judge(absl::Span<const LimitedRatio> ratios) {
  Verdict verdict = Verdict::kPass;
  for (const LimitedRatio& r : ratios) {
    if (r.ratio.has_value() && !(*r.ratio >= r.floor)) return Verdict::kFail;
    if (!r.ratio.has_value() && r.floor > 0) verdict = Verdict::kNotMeasured;
  }
  return verdict;
}

std::string RatioText(const std::optional<double>& ratio) {
  return ratio.has_value() ? absl::StrFormat("%.4f", *ratio) : "";
}

std::string LimitText(double limit) { return limit > 0 ? absl::StrCat(limit) : ""; }

std::string LimitTable(const std::vector<TableColumn>& columns,
                       absl::Span<const std::vector<std::string>> lines) {
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  for (std::vector<std::string> cells : lines) {
    std::replace(cells.begin(), cells.end(), std::string(), std::string("-"));
    table.PrintRow(cells);
  }
  const auto count = [&](Verdict verdict) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::vector<std::string>& cells) {
      return cells.back() == VerdictName(verdict);
    });
  };
  return absl::StrCat("\n", text.str(), "limits: ", count(Verdict::kPass), " passed, ",
                      count(Verdict::kFail), " failed, ", count(Verdict::kNotMeasured),
                      " not measured\n");
}

}  // namespace stridewise
