#include "benchmarks/profile/ncu_output.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/measure/csv.h"

namespace stridewise {
namespace {

// The text of the first line of ncu's that begins so, or "".
std::string MessageOf(absl::string_view output, absl::string_view prefix) {
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    if (absl::ConsumePrefix(&line, prefix)) return std::string(absl::StripAsciiWhitespace(line));
  }
  return "";
}

// The CSV within the output. Lines of ncu and of the program stand before it and may follow it;
// only its own begin with a quote.
std::string CsvText(absl::string_view output) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(output, '\n')) {
    if (absl::StartsWith(line, text.empty() ? "\"ID\"," : "\"")) absl::StrAppend(&text, line, "\n");
  }
  return text;
}

absl::StatusOr<size_t> FindColumn(const CsvTable& table, absl::string_view name) {
  const auto found = std::find(table.header.begin(), table.header.end(), name);
  if (found != table.header.end()) return static_cast<size_t>(found - table.header.begin());
  return absl::InternalError(absl::StrCat("ncu's CSV has no column \"", name, "\""));
}

// "33,629,440" and "25.5"; nothing for "n/a".
std::optional<double> ParseValue(const std::string& text) {
  double value = 0;
  if (!absl::SimpleAtod(absl::StrReplaceAll(text, {{",", ""}}), &value) || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool RemoveUnknownMetrics(absl::string_view error, std::vector<std::string>* metrics) {
  const auto is_named = [&](const std::string& metric) { return absl::StrContains(error, metric); };
  const auto unknown = std::remove_if(metrics->begin(), metrics->end(), is_named);
  if (unknown == metrics->end()) return false;
  metrics->erase(unknown, metrics->end());
  return true;
}

absl::StatusOr<std::vector<NcuLaunch>> ParseNcuOutput(absl::string_view output) {
  if (absl::StrContains(output, "ERR_NVGPUCTRPERM")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM): ", kCounterPermission));
  }
  const std::string error = MessageOf(output, "==ERROR==");
  if (!error.empty()) return absl::InternalError(absl::StrCat("ncu: ", error));
  const std::string text = CsvText(output);
  if (text.empty()) {
    const std::string warning = MessageOf(output, "==WARNING==");
    return absl::InternalError(
        absl::StrCat("ncu: ", warning.empty() ? "it printed no table" : warning));
  }
  const absl::StatusOr<CsvTable> table = ParseCsv(text);
  if (!table.ok()) {
    return absl::InternalError(absl::StrCat("ncu's CSV: ", table.status().message()));
  }
  ASSIGN_OR_RETURN(const size_t id, FindColumn(*table, "ID"));
  ASSIGN_OR_RETURN(const size_t kernel, FindColumn(*table, "Kernel Name"));
  ASSIGN_OR_RETURN(const size_t metric, FindColumn(*table, "Metric Name"));
  ASSIGN_OR_RETURN(const size_t metric_value, FindColumn(*table, "Metric Value"));

  std::vector<NcuLaunch> launches;
  std::map<std::string, size_t> place;  // By ID.
  for (const std::vector<std::string>& record : table->rows) {
    const auto [entry, is_new] = place.emplace(record[id], launches.size());
    if (is_new) launches.push_back({record[kernel], {}});
    const std::optional<double> value = ParseValue(record[metric_value]);
    if (value.has_value()) launches[entry->second].metrics[record[metric]] = *value;
  }
  if (launches.empty()) return absl::InternalError("ncu: its table has no rows");
  return launches;
}

}  // namespace stridewise
