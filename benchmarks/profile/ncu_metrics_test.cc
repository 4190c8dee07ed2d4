#include "benchmarks/profile/ncu_metrics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/profile/ncu_output.h"
#include "benchmarks/profile/ncu_output_samples.h"
#include "common/measure/result_row.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Why a kernel is as fast as it is: figures that are easy to weight, not an H200's.
NcuValues Why(const std::string& percent, const std::string& count) {
  NcuValues values;
  for (const char* metric :
       {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "lts__throughput.avg.pct_of_peak_sustained_elapsed",
        "smsp__issue_active.avg.pct_of_peak_sustained_active", "lts__t_sector_hit_rate.pct",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
        "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"}) {
    values.emplace_back(metric, percent);
  }
  for (const char* metric :
       {"smsp__inst_executed.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
        "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"}) {
    values.emplace_back(metric, count);
  }
  return values;
}

NcuValues Plus(NcuValues values, const NcuValues& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// Counters of an H200 at 512 x 512 floats: naive_row with 16x16 threads, which has no branch.
NcuValues NaiveRow() {
  return Plus({{"gpu__time_duration.sum", "4,960"},
               {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "0"},
               {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "0"},
               {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "8,192"},
               {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "8,192"},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32,768"},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "131,072"},
               {"sm__warps_active.avg.pct_of_peak_sustained_active", "60.98"},
               {"smsp__inst_executed_op_shared_ld.sum", "0"},
               {"smsp__inst_executed_op_shared_st.sum", "0"},
               {"smsp__sass_average_branch_targets_threads_uniform.pct", "0"},
               {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "100"},
               {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "25"},
               {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "0"},
               {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "6,400"},
               {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "0"},
               {"launch__registers_per_thread", "32"}},
              Why("50", "1,000"));
}

// The tile with a padding of 1 and two elements a thread: 2-way conflicts on loads.
NcuValues PaddedTile() {
  return Plus({{"gpu__time_duration.sum", "3,040"},
               {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "16,384"},
               {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "8,192"},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32,768"},
               {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "32,768"},
               {"sm__warps_active.avg.pct_of_peak_sustained_active", "44.41"},
               {"smsp__inst_executed_op_shared_ld.sum", "8,192"},
               {"smsp__inst_executed_op_shared_st.sum", "8,192"},
               {"smsp__sass_average_branch_targets_threads_uniform.pct", "100"},
               {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "100"},
               {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "100"},
               {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "66.67"},
               {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "0"},
               {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "3,200"},
               {"launch__registers_per_thread", "24"}},
              Why("10", "3,000"));
}

ResultRow RowOf(const std::string& output) {
  ResultRow row;
  const absl::StatusOr<std::vector<NcuLaunch>> launches = ParseNcuOutput(output);
  EXPECT_TRUE(launches.ok()) << launches.status();
  if (launches.ok()) SetNcuColumns(*launches, &row);
  return row;
}

void ExpectCells(const ResultRow& row, const std::vector<std::pair<Column, std::string>>& want) {
  for (const auto& [column, text] : want) EXPECT_EQ(row.Get(column), text) << ColumnName(column);
}

TEST(NcuMetricsTest, EachMetricIsAskedForOnce) {
  const std::vector<std::string> asked = NcuMetrics();
  EXPECT_EQ(asked.size(), NaiveRow().size());
  for (const auto& [metric, value] : NaiveRow()) {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), metric), 1) << metric;
  }
}

TEST(NcuMetricsTest, WithoutSharedMemoryAndBranchesThoseCellsAreEmpty) {
  ExpectCells(RowOf(absl::StrCat(kNcuBefore, kNcuHeader, NcuRows(0, "NaiveRow", NaiveRow()))),
              {{Column::kLoadEfficiency, "100"},
               {Column::kStoreEfficiency, "25"},
               {Column::kLoadTransactions, "32768"},
               {Column::kStoreTransactions, "131072"},
               {Column::kSharedLoadWavefrontsPerRequest, ""},
               {Column::kSharedStoreWavefrontsPerRequest, ""},
               {Column::kSharedEfficiency, ""},
               {Column::kBranchEfficiency, ""},
               {Column::kAchievedOccupancy, "60.98"},
               {Column::kSamples, "1"},
               {Column::kKernelMsMedian, "0.00496"}});
}

TEST(NcuMetricsTest, SharedMemory) {
  ExpectCells(RowOf(absl::StrCat(kNcuBefore, kNcuHeader, NcuRows(0, "Tile", PaddedTile()))),
              {{Column::kSharedLoadWavefrontsPerRequest, "2"},
               {Column::kSharedStoreWavefrontsPerRequest, "1"},
               {Column::kSharedEfficiency, "66.67"},
               {Column::kBranchEfficiency, "100"}});
}

TEST(NcuMetricsTest, SeveralLaunchesAreOneConfiguration) {
  ExpectCells(RowOf(absl::StrCat(kNcuHeader, NcuRows(0, "NaiveRow", NaiveRow()),
                                 NcuRows(1, "Tile", PaddedTile()))),
              {{Column::kLoadTransactions, "65536"},
               {Column::kStoreTransactions, "163840"},
               {Column::kStoreEfficiency, "40"},  // (25 * 131072 + 100 * 32768) / 163840
               {Column::kSharedEfficiency, "66.67"},
               {Column::kSharedLoadWavefrontsPerRequest, "2"},
               {Column::kKernelMsMedian, "0.008"}});
}

TEST(NcuMetricsTest, WhyItIsAsFastAsItIs) {
  ExpectCells(RowOf(absl::StrCat(kNcuHeader, NcuRows(0, "NaiveRow", NaiveRow()))),
              {{Column::kComputePctOfPeak, "50"},
               {Column::kMemoryPctOfPeak, "50"},
               {Column::kDramPctOfPeak, "50"},
               {Column::kL2PctOfPeak, "50"},
               {Column::kIssueActivePct, "50"},
               {Column::kInstructions, "1000"},
               {Column::kFmaPctOfInstructions, "20"},  // 6400 / (32 * 1000)
               {Column::kRegisters, "32"},
               {Column::kStalledLongScoreboard, "50"},
               {Column::kStalledShortScoreboard, "50"},
               {Column::kStalledBarrier, "50"},
               {Column::kStalledMioThrottle, "50"},
               {Column::kStalledLgThrottle, "50"},
               {Column::kStalledDispatch, "50"},
               {Column::kStalledWait, "50"},
               {Column::kDramReadBytes, "1000"},
               {Column::kDramWriteBytes, "1000"},
               {Column::kL2HitRate, "50"},
               {Column::kL2ReadSectors, "1000"},
               {Column::kL2WriteSectors, "1000"}});
  // Of two launches: percentages of the time by 4960 and 3040 ns, ratios by 1000 and 3000
  // instructions, the hit rate by the sectors.
  ExpectCells(RowOf(absl::StrCat(kNcuHeader, NcuRows(0, "NaiveRow", NaiveRow()),
                                 NcuRows(1, "Tile", PaddedTile()))),
              {{Column::kComputePctOfPeak, "34.8"},
               {Column::kIssueActivePct, "34.8"},
               {Column::kInstructions, "4000"},
               {Column::kFmaPctOfInstructions, "7.5"},  // (6400 + 3200) / (32 * 4000)
               {Column::kRegisters, "32"},
               {Column::kStalledBarrier, "20"},
               {Column::kStalledWait, "20"},
               {Column::kDramReadBytes, "4000"},
               {Column::kL2HitRate, "20"}});
}

TEST(NcuMetricsTest, WhatAGpuLacksIsNotAskedForAgain) {
  const size_t all = NcuMetrics().size();
  const struct {
    const char* error;
    size_t left;
  } kCases[] = {
      {"ncu: Failed to find metric launch__registers_per_thread", all - 1},
      {"ncu: Failed to find metrics dram__bytes_read.sum, dram__bytes_write.sum", all - 2},
      {"ncu: Failed to find metric foo.sum", all},
      {"", all},
  };
  for (const auto& c : kCases) {
    std::vector<std::string> metrics = NcuMetrics();
    EXPECT_EQ(RemoveUnknownMetrics(c.error, &metrics), c.left < all) << c.error;
    EXPECT_EQ(metrics.size(), c.left) << c.error;
  }
}

TEST(NcuMetricsTest, WhatNcuCannotTellStaysEmpty) {
  for (const char* value : {"n/a", "", "nan", "inf", "(!) no data"}) {
    NcuValues values = NaiveRow();
    for (auto& [metric, text] : values) {
      if (absl::StrContains(metric, "op_ld")) text = value;
    }
    ExpectCells(RowOf(absl::StrCat(kNcuHeader, NcuRows(0, "NaiveRow", values))),
                {{Column::kLoadTransactions, ""},
                 {Column::kLoadEfficiency, ""},
                 {Column::kStoreTransactions, "131072"}});
  }
}

}  // namespace
}  // namespace stridewise
