#include "benchmarks/profile/ncu_metrics.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/harness/row_columns.h"
#include "benchmarks/profile/ncu_output.h"
#include "common/measure/result_row.h"
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
