#include "benchmarks/profile/ncu_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/measure/csv.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

constexpr char kDuration[] = "gpu__time_duration.sum";
constexpr char kLoadEfficiency[] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";
constexpr char kStoreEfficiency[] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct";
constexpr char kSharedEfficiency[] = "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct";
constexpr char kOccupancy[] = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr char kBranchEfficiency[] = "smsp__sass_average_branch_targets_threads_uniform.pct";

constexpr char kInstructions[] = "smsp__inst_executed.sum";
constexpr char kThreadFmas[] = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
constexpr char kThreadDoubleFmas[] = "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum";
constexpr char kRegisters[] = "launch__registers_per_thread";
constexpr char kL2HitRate[] = "lts__t_sector_hit_rate.pct";
constexpr char kL2Reads[] = "lts__t_sectors_op_read.sum";
constexpr char kL2Writes[] = "lts__t_sectors_op_write.sum";
constexpr int kLanes = 32;

struct ColumnMetric {
  Column column;
  const char* metric;
};

// Percentages of the elapsed time.
constexpr ColumnMetric kOfTime[] = {
    {Column::kComputePctOfPeak, "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Column::kMemoryPctOfPeak, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {Column::kDramPctOfPeak, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {Column::kL2PctOfPeak, "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {Column::kIssueActivePct, "smsp__issue_active.avg.pct_of_peak_sustained_active"},
};

// Warps that wait for a reason, per issued instruction.
constexpr ColumnMetric kOfInstructions[] = {
    {Column::kStalledLongScoreboard,
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"},
    {Column::kStalledShortScoreboard,
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio"},
    {Column::kStalledBarrier, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"},
    {Column::kStalledMioThrottle,
     "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio"},
    {Column::kStalledLgThrottle,
     "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio"},
    {Column::kStalledDispatch,
     "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio"},
    {Column::kStalledWait, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"},
};

constexpr ColumnMetric kCounts[] = {
    {Column::kInstructions, kInstructions},
    {Column::kDramReadBytes, "dram__bytes_read.sum"},
    {Column::kDramWriteBytes, "dram__bytes_write.sum"},
    {Column::kL2ReadSectors, kL2Reads},
    {Column::kL2WriteSectors, kL2Writes},
};

using Launches = absl::Span<const NcuLaunch>;

std::optional<double> Metric(const NcuLaunch& launch, const char* name) {
  const auto found = launch.metrics.find(name);
  if (found == launch.metrics.end()) return std::nullopt;
  return found->second;
}

std::optional<double> Ratio(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value() || *b == 0) return std::nullopt;
  return *a / *b;
}

// The mean of a metric, each launch weighted by the sum of its `weights`.
std::optional<double> Mean(Launches launches, const char* name,
                           absl::Span<const char* const> weights) {
  double sum = 0;
  double total = 0;
  for (const NcuLaunch& launch : launches) {
    double weight = 0;
    for (const char* weight_name : weights) {
      const std::optional<double> part = Metric(launch, weight_name);
      if (!part.has_value()) return std::nullopt;
      weight += *part;
    }
    if (weight == 0) continue;  // Nothing to be efficient at: the metric is 0 or absent.
    const std::optional<double> value = Metric(launch, name);
    if (!value.has_value()) return std::nullopt;
    sum += weight * *value;
    total += weight;
  }
  return Ratio(sum, total);
}

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

void SetIfKnown(Column column, std::optional<double> value, ResultRow* row) {
  if (value.has_value()) row->Set(column, *value);
}

std::optional<double> Largest(Launches launches, const char* name) {
  std::optional<double> largest;
  for (const NcuLaunch& launch : launches) largest = std::max(largest, Metric(launch, name));
  return largest;
}

std::optional<double> Plus(std::optional<double> a, std::optional<double> b) {
  if (!a.has_value() || !b.has_value()) return std::nullopt;
  return *a + *b;
}

// Sets the columns from compute_pct_of_peak on.
void SetWhyColumns(Launches launches, ResultRow* row) {
  for (const auto& [column, metric] : kOfTime) {
    SetIfKnown(column, Mean(launches, metric, {kDuration}), row);
  }
  for (const auto& [column, metric] : kOfInstructions) {
    SetIfKnown(column, Mean(launches, metric, {kInstructions}), row);
  }
  for (const auto& [column, metric] : kCounts) SetIfKnown(column, NcuSum(launches, metric), row);
  const std::optional<double> fmas =
      Plus(NcuSum(launches, kThreadFmas), NcuSum(launches, kThreadDoubleFmas));
  const std::optional<double> fmas_per_lane = Ratio(fmas, NcuSum(launches, kInstructions));
  if (fmas_per_lane.has_value()) {
    row->Set(Column::kFmaPctOfInstructions, 100 * *fmas_per_lane / kLanes);
  }
  SetIfKnown(Column::kRegisters, Largest(launches, kRegisters), row);
  SetIfKnown(Column::kL2HitRate, Mean(launches, kL2HitRate, {kL2Reads, kL2Writes}), row);
}

}  // namespace

std::vector<std::string> NcuMetrics() {
  std::vector<std::string> metrics = {kDuration,
                                      kLoadEfficiency,
                                      kStoreEfficiency,
                                      kSharedEfficiency,
                                      kOccupancy,
                                      kBranchEfficiency,
                                      kNcuGlobalLoadRequests,
                                      kNcuGlobalStoreRequests,
                                      kNcuGlobalLoadSectors,
                                      kNcuGlobalStoreSectors,
                                      kNcuSharedLoadRequests,
                                      kNcuSharedStoreRequests,
                                      kNcuSharedLoadWavefronts,
                                      kNcuSharedStoreWavefronts,
                                      kThreadFmas,
                                      kThreadDoubleFmas,
                                      kRegisters,
                                      kL2HitRate};
  for (const absl::Span<const ColumnMetric> group :
       {absl::MakeSpan(kOfTime), absl::MakeSpan(kOfInstructions), absl::MakeSpan(kCounts)}) {
    for (const ColumnMetric& entry : group) metrics.emplace_back(entry.metric);
  }
  return metrics;
}

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

std::optional<double> NcuSum(absl::Span<const NcuLaunch> launches, const char* metric) {
  double sum = 0;
  for (const NcuLaunch& launch : launches) {
    const std::optional<double> value = Metric(launch, metric);
    if (!value.has_value()) return std::nullopt;
    sum += *value;
  }
  return sum;
}

void SetNcuColumns(absl::Span<const NcuLaunch> launches, ResultRow* row) {
  const auto sum = [&](const char* name) { return NcuSum(launches, name); };
  const auto mean = [&](const char* name, const std::vector<const char*>& weights) {
    return Mean(launches, name, weights);
  };
  SetIfKnown(Column::kLoadEfficiency, mean(kLoadEfficiency, {kNcuGlobalLoadSectors}), row);
  SetIfKnown(Column::kStoreEfficiency, mean(kStoreEfficiency, {kNcuGlobalStoreSectors}), row);
  SetIfKnown(Column::kLoadTransactions, sum(kNcuGlobalLoadSectors), row);
  SetIfKnown(Column::kStoreTransactions, sum(kNcuGlobalStoreSectors), row);
  SetIfKnown(Column::kSharedLoadWavefrontsPerRequest,
             Ratio(sum(kNcuSharedLoadWavefronts), sum(kNcuSharedLoadRequests)), row);
  SetIfKnown(Column::kSharedStoreWavefrontsPerRequest,
             Ratio(sum(kNcuSharedStoreWavefronts), sum(kNcuSharedStoreRequests)), row);
  SetIfKnown(Column::kSharedEfficiency,
             mean(kSharedEfficiency, {kNcuSharedLoadWavefronts, kNcuSharedStoreWavefronts}), row);
  SetIfKnown(Column::kAchievedOccupancy, mean(kOccupancy, {kDuration}), row);
  // ncu says 0 for a kernel without a branch, as the simplest copies are.
  const std::optional<double> branch_efficiency = mean(kBranchEfficiency, {kDuration});
  if (branch_efficiency != 0.0) SetIfKnown(Column::kBranchEfficiency, branch_efficiency, row);
  SetWhyColumns(launches, row);

  const std::optional<double> ns = sum(kDuration);
  if (!ns.has_value()) return;
  const double ms = *ns * 1e-6;
  SetKernelTimes(Summarize({&ms, 1}), row);
}

}  // namespace stridewise
