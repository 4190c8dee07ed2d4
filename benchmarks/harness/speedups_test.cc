#include "benchmarks/harness/speedups.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/harness/make_config.h"
#include "benchmarks/harness/test/fake_operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

const FakeOperation& Fake() {
  static const FakeOperation operation;
  return operation;
}

using Rows = std::vector<ResultRow>;

// A correct row of a square with the implementation's default block.
ResultRow Row(const char* name, int n, double kernel_ms, double total_ms = 9) {
  const Config config = MakeConfig(Fake(), name, {n, n});
  ResultRow row;
  SetProblemColumns(Fake(), config.point, &row);
  if (!Fake().Competes(*config.implementation)) row.Set(Column::kOperation, "copy");
  row.Set(Column::kImplementation, name);
  if (config.block.x > 0) {
    row.Set(Column::kBlockX, config.block.x);
    row.Set(Column::kBlockY, config.block.y);
  }
  if (config.implementation->on_device()) row.Set(Column::kL2, "cold");
  row.Set(Column::kKernelMsMedian, kernel_ms);
  row.Set(Column::kTotalMs, total_ms);
  row.Set(Column::kGbps, 8e-6 * n * n / kernel_ms);
  row.SetStatus(RowStatus::kOk);
  return row;
}

ResultRow With(ResultRow row, Column column, const std::string& text) {
  row.Set(column, text);
  return row;
}

ResultRow Blocked(const char* name, const char* x, const char* y, double kernel_ms, int n = 64) {
  return With(With(Row(name, n, kernel_ms), Column::kBlockX, x), Column::kBlockY, y);
}

ResultRow Batch(const char* name, int batch, double kernel_ms) {
  return With(Row(name, 64, kernel_ms), Column::kBatch, std::to_string(batch));
}

ResultRow InPlace(const char* name, double kernel_ms) {
  return With(Row(name, 64, kernel_ms), Column::kOperation, "fake_in_place");
}

ResultRow Failed(ResultRow row) {
  row.SetStatus(RowStatus::kMismatch);
  return row;
}

std::string PreviousOf(const Rows& rows, ResultRow row) {
  SetSpeedups(Fake(), rows, &row);
  return row.Get(Column::kSpeedupVsPrevious);
}

std::string CpuOf(const Rows& rows, ResultRow row) {
  SetSpeedups(Fake(), rows, &row);
  return row.Get(Column::kSpeedupVsCpu);
}

TEST(SetSpeedupsTest, PrefersTheSameBlockAndElseTheDefaultOne) {
  const Rows rows = {Row("naive", 64, 99), Blocked("better", "8", "32", 4), Row("better", 64, 6),
                     Blocked("better", "32", "32", 8), Row("copy", 64, 1)};
  EXPECT_EQ(PreviousOf(rows, Blocked("unrolled", "8", "32", 2)), "2");
  EXPECT_EQ(PreviousOf(rows, Row("unrolled", 64, 2)), "3");
  EXPECT_EQ(PreviousOf(rows, Row("tile", 64, 2)), "4");
  EXPECT_EQ(PreviousOf(rows, Row("thin_tile", 64, 2)), "3");
  EXPECT_EQ(PreviousOf(rows, Row("no_block", 64, 2)), "3");
  EXPECT_EQ(PreviousOf({rows[4], rows[3], rows[2], rows[1], rows[0]}, Row("tile", 64, 2)), "4");
  EXPECT_EQ(PreviousOf(rows, Blocked("unrolled", "8", "32", 2, 128)), "");
  EXPECT_EQ(PreviousOf({Blocked("better", "8", "32", 4)}, Row("tile", 64, 2)), "");
}

TEST(SetSpeedupsTest, TakesTheNearestLowerStepWhateverTheOrderOfRows) {
  Rows rows = {Row("better", 64, 4), Row("naive", 64, 6), Failed(Row("unrolled", 64, 9)),
               Row("thin_tile", 64, 1), Row("no_block", 64, 1)};
  EXPECT_EQ(PreviousOf(rows, Row("tile", 64, 2)), "2");
  std::swap(rows[0], rows[1]);
  EXPECT_EQ(PreviousOf(rows, Row("tile", 64, 2)), "2");
  EXPECT_EQ(PreviousOf(rows, Row("naive", 64, 2)), "");
}

TEST(SetSpeedupsTest, LeavesOutKernelsOfTheLibrary) {
  const Rows rows = {Row("fast_loop", 64, 8), Row("tile", 64, 4), Row("library", 64, 3)};
  EXPECT_EQ(PreviousOf(rows, Row("library", 64, 2)), "");
  EXPECT_EQ(CpuOf(rows, Row("library", 64, 2)), "4");
  EXPECT_EQ(PreviousOf(rows, Row("thin_tile", 64, 2)), "2");
  EXPECT_EQ(PreviousOf({Row("library", 64, 3)}, Row("tile", 64, 2)), "");
  EXPECT_EQ(PreviousOf(rows, With(Row("tile", 64, 2), Column::kImplementation, "unknown")), "");
}

TEST(SetSpeedupsTest, NeverMixesColdAndHotRows) {
  const auto hot = [](ResultRow row) { return With(std::move(row), Column::kL2, "hot"); };
  const Rows rows = {Row("naive", 64, 8), hot(Row("naive", 64, 4))};
  EXPECT_EQ(PreviousOf(rows, Row("better", 64, 2)), "4");
  EXPECT_EQ(PreviousOf(rows, hot(Row("better", 64, 2))), "2");
  EXPECT_EQ(PreviousOf({rows[1]}, Row("better", 64, 2)), "");
}

TEST(SetSpeedupsTest, ComparesHostRowsAmongThemselvesAndOneOperationOnly) {
  const Rows rows = {Row("loop", 64, 16), Row("fast_loop", 64, 8), Failed(Row("loop", 64, 1))};
  EXPECT_EQ(PreviousOf(rows, Row("naive", 64, 2)), "");
  EXPECT_EQ(CpuOf(rows, Row("naive", 64, 2)), "4");
  EXPECT_EQ(CpuOf(rows, Row("copy", 64, 2)), "");
  EXPECT_EQ(PreviousOf(rows, Row("fast_loop", 64, 8)), "2");
  EXPECT_EQ(CpuOf(rows, Row("fast_loop", 64, 8)), "");
}

TEST(SetSpeedupsTest, StaysEmptyWithNothingToCompare) {
  const Rows failed = {Failed(Row("naive", 64, 4))};
  EXPECT_EQ(PreviousOf(failed, Row("better", 64, 2)), "");
  EXPECT_EQ(CpuOf(failed, Row("better", 64, 2)), "");
  EXPECT_EQ(PreviousOf({Row("naive", 64, 4)}, Failed(Row("better", 64, 2))), "");
}

TEST(SetSpeedupsTest, ComparesRowsOfOneProblemOnly) {
  for (const Column column : {Column::kLayout, Column::kAlpha, Column::kBeta, Column::kBatch,
                              Column::kDepth, Column::kDtype, Column::kOperation}) {
    ResultRow first = Row("naive", 64, 4);
    const ResultRow second = With(Row("better", 64, 2), column, "7");
    EXPECT_EQ(PreviousOf({first}, second), "") << ColumnName(column);
    first.Set(column, "7");
    EXPECT_EQ(PreviousOf({first}, second), "2") << ColumnName(column);
  }
}

TEST(SetSpeedupsTest, BatchesAndWorkInPlaceAreProblemsOfTheirOwn) {
  const Rows rows = {Row("loop", 64, 8), Row("naive", 64, 6), Batch("naive", 10, 60),
                     InPlace("unrolled", 4)};
  EXPECT_EQ(PreviousOf(rows, Batch("better", 10, 30)), "2");
  EXPECT_EQ(PreviousOf(rows, Batch("better", 11, 30)), "");
  EXPECT_EQ(PreviousOf(rows, Row("better", 64, 2)), "3");
  EXPECT_EQ(CpuOf(rows, Batch("better", 10, 30)), "");
  EXPECT_EQ(PreviousOf(rows, InPlace("better", 4)), "");
  EXPECT_EQ(CpuOf(rows, InPlace("better", 4)), "");
  EXPECT_EQ(PreviousOf(rows, Row("tile", 64, 3)), "2");
}

void ExpectConclusions(const Rows& rows, std::initializer_list<const char*> parts) {
  const std::string text = Conclusions(Fake(), rows);
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

// The GPU wins at 32 by chance, loses at 64, and wins from 128 on: 128 is the answer.
TEST(ConclusionsTest, FindWhereTheGpuWinsForGood) {
  Rows rows;
  const double cpu[] = {5, 5, 20, 80};
  const double gpu[] = {4, 6, 7, 8};
  const double total[] = {9, 9, 21, 30};
  for (int i = 0; i < 4; ++i) {
    rows.push_back(Row("fast_loop", 32 << i, cpu[i], cpu[i]));
    rows.push_back(Row("library", 32 << i, gpu[i], total[i]));
  }
  ExpectConclusions(rows,
                    {"from n = 128 on (10 times at 256)", "from n = 256 on (2.67 times at 256)"});
  ExpectConclusions({Row("loop", 32, 1), Row("library", 32, 2)},
                    {"the CPU is still faster at n = 32"});
}

TEST(ConclusionsTest, ListTheStepsAtTheLargestSharedSize) {
  const Rows rows = {Row("naive", 64, 4), Row("better", 64, 2), Row("naive", 128, 8),
                     Row("better", 128, 5), Row("better", 256, 9)};
  ExpectConclusions(rows, {"Steps at 128x128 float"});
}

TEST(ConclusionsTest, NameAxesBatchesAndWorkInPlace) {
  ExpectConclusions(
      {Row("loop", 64, 8), Row("naive", 64, 9), Batch("naive", 10, 1), Batch("better", 10, 2),
       InPlace("unrolled", 4), With(Row("library", 64, 1), Column::kLayout, "tn")},
      {"Best at 64x64 float: naive, ", "Best at 64x64 float x 10: naive, ",
       "Best at 64x64 float in place: unrolled, ", "Best at 64x64 float layout=tn: library, ",
       "Kernel alone, float: the CPU is still faster", "Steps at 64x64 float x 10:\n  naive"});
  for (const Column column : {Column::kLayout, Column::kBatch}) {
    const std::string text =
        Conclusions(Fake(), {Row("naive", 64, 4), With(Row("better", 64, 2), column, "7")});
    EXPECT_EQ(text.find("Steps at"), std::string::npos) << text;
  }
}

TEST(ConclusionsTest, TellTheBestTheCrossingAndTheSteps) {
  Rows rows;
  for (const int n : {64, 128}) {
    rows.push_back(Row("copy", n, 1));
    rows.push_back(Row("fast_loop", n, 4, 4));
    rows.push_back(Row("naive", n, 3, n == 64 ? 9 : 3.5));
    rows.push_back(Row("tile", n, 2, n == 64 ? 8 : 2.5));
    rows.back().Set(Column::kPctOfCopy, 87.5);
    rows.back().Set(Column::kVsCublas, 1.25);
  }
  ExpectConclusions(
      rows,
      {"Best at 128x128 float: tile, ", " GB/s, 87.5 % of a copy, 1.250 times cuBLAS.\n",
       "Kernel alone, float: the GPU is faster than the CPU from n = 64 on (2 times at 128)",
       "copies, float: the GPU is faster than the CPU from n = 128 on (1.6 times at 128)",
       "Steps at 128x128 float:\n  naive", "2.00 kernel alone", "1.60 with allocation and copies"});
  EXPECT_EQ(Conclusions(Fake(), {}), "");
  EXPECT_EQ(Conclusions(Fake(), {Row("loop", 32, 1)}), "");
  EXPECT_EQ(Conclusions(Fake(), {Row("copy", 32, 1)}), "");
}

// Work with operations is told in GFLOP/s.
TEST(ConclusionsTest, TellTheRateOfWhatWasDone) {
  ExpectConclusions({With(Row("tile", 64, 1), Column::kGflops, "1234.5")},
                    {"Best at 64x64 float: tile, 1234.5 GFLOP/s.\n"});
}

}  // namespace
}  // namespace stridewise
