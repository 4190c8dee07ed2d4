#include "benchmarks/profile/ncu_metrics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr char kBefore[] =
    "==PROF== Connected to process 4242 (/home/me/profile)\n"
    "==PROF== Profiling \"NaiveRow\" - 0: 0%....50%....100% - 9 passes\n"
    "==PROF== Disconnected from process 4242\n";
constexpr char kHeader[] =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\","
    "\"Metric Unit\",\"Metric Value\"\n";

using Values = std::vector<std::pair<std::string, std::string>>;

// ncu's rows of a launch, a metric each.
std::string Rows(int id, const std::string& kernel, const Values& values) {
  std::string text;
  for (const auto& [metric, value] : values) {
    absl::StrAppend(&text, "\"", id, "\",\"4242\",\"profile\",\"127.0.0.1\",\"", kernel,
                    "\",\"1\",\"7\",\"(16, 16, 1)\",\"(32, 32, 1)\",\"0\",\"9.0\","
                    "\"Command line profiler metrics\",\"",
                    metric, "\",\"unit\",\"", value, "\"\n");
  }
  return text;
}

// Counters of an H200 at 512 x 512 floats: naive_row with 16x16 threads, which has no branch.
Values NaiveRow() {
  return {{"gpu__time_duration.sum", "4,960"},
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
          {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "0"}};
}

// The tile with a padding of 1 and two elements a thread: 2-way conflicts on loads.
Values PaddedTile() {
  return {{"gpu__time_duration.sum", "3,040"},
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
          {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", "66.67"}};
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
  const std::vector<std::string> asked = absl::StrSplit(NcuMetrics(), ',');
  EXPECT_EQ(asked.size(), NaiveRow().size());
  for (const auto& [metric, value] : NaiveRow()) {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), metric), 1) << metric;
  }
}

TEST(NcuMetricsTest, ThousandsSeparatorsAndNamesWithCommas) {
  const absl::StatusOr<std::vector<NcuLaunch>> launches = ParseNcuOutput(absl::StrCat(
      kBefore, kHeader, Rows(0, "Copy(Matrix<int, 1>, long)", {{"some.sum", "33,629,440"}})));
  ASSERT_TRUE(launches.ok()) << launches.status();
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ(launches->front().kernel, "Copy(Matrix<int, 1>, long)");
  EXPECT_EQ(launches->front().metrics.at("some.sum"), 33629440);
}

TEST(NcuMetricsTest, WithoutSharedMemoryAndBranchesThoseCellsAreEmpty) {
  ExpectCells(RowOf(absl::StrCat(kBefore, kHeader, Rows(0, "NaiveRow", NaiveRow()))),
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
  ExpectCells(RowOf(absl::StrCat(kBefore, kHeader, Rows(0, "Tile", PaddedTile()))),
              {{Column::kSharedLoadWavefrontsPerRequest, "2"},
               {Column::kSharedStoreWavefrontsPerRequest, "1"},
               {Column::kSharedEfficiency, "66.67"},
               {Column::kBranchEfficiency, "100"}});
}

TEST(NcuMetricsTest, SeveralLaunchesAreOneConfiguration) {
  ExpectCells(
      RowOf(absl::StrCat(kHeader, Rows(0, "NaiveRow", NaiveRow()), Rows(1, "Tile", PaddedTile()))),
      {{Column::kLoadTransactions, "65536"},
       {Column::kStoreTransactions, "163840"},
       {Column::kStoreEfficiency, "40"},  // (25 * 131072 + 100 * 32768) / 163840
       {Column::kSharedEfficiency, "66.67"},
       {Column::kSharedLoadWavefrontsPerRequest, "2"},
       {Column::kKernelMsMedian, "0.008"}});
}

TEST(NcuMetricsTest, LinesAroundTheTableAndCarriageReturns) {
  const std::string text = absl::StrCat(kBefore, "\"a quoted line of the program\n", kHeader,
                                        Rows(0, "NaiveRow", NaiveRow()), "==WARNING== Note this.\n",
                                        "the program ends\n");
  EXPECT_EQ(RowOf(text).Get(Column::kLoadTransactions), "32768");
  EXPECT_EQ(RowOf(absl::StrReplaceAll(text, {{"\n", "\r\n"}})).Get(Column::kLoadTransactions),
            "32768");
}

TEST(NcuMetricsTest, WhatNcuCannotTellStaysEmpty) {
  for (const char* value : {"n/a", "", "nan", "inf", "(!) no data"}) {
    Values values = NaiveRow();
    for (auto& [metric, text] : values) {
      if (absl::StrContains(metric, "op_ld")) text = value;
    }
    ExpectCells(RowOf(absl::StrCat(kHeader, Rows(0, "NaiveRow", values))),
                {{Column::kLoadTransactions, ""},
                 {Column::kLoadEfficiency, ""},
                 {Column::kStoreTransactions, "131072"}});
  }
}

TEST(NcuMetricsTest, ErrorsSayWhatNcuSaid) {
  const struct {
    std::string output;
    absl::StatusCode code;
    std::string words;
  } kCases[] = {
      {"==PROF== Connected to process 1 (/x)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
       "permission to access NVIDIA GPU Performance Counters on the target device 0.\n",
       absl::StatusCode::kInvalidArgument, "NVreg_RestrictProfilingToAdminUsers=0"},
      {"==ERROR== Failed to find metric foo.sum\n", absl::StatusCode::kInternal,
       "ncu: Failed to find metric foo.sum"},
      {"==PROF== Connected to process 1 (/x)\n==WARNING== No kernels were profiled.\n",
       absl::StatusCode::kInternal, "ncu: No kernels were profiled."},
      {"", absl::StatusCode::kInternal, "no table"},
      {kHeader, absl::StatusCode::kInternal, "no rows"},
      {"\"ID\",\"Metric Name\"\n\"0\",\"x\"\n", absl::StatusCode::kInternal, "Kernel Name"},
      {absl::StrCat(kHeader, "\"0\",\"cut of"), absl::StatusCode::kInternal, "line 2"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = ParseNcuOutput(c.output).status();
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), c.words)) << status;
    EXPECT_FALSE(absl::StrContains(status.message(), "\n")) << status;
  }
}

}  // namespace
}  // namespace stridewise
