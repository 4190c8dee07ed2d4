#include "benchmarks/matmul/matmul_speedups.h"

#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

ResultRow Row(const char* implementation, int n, double kernel_ms, double total_ms,
              RowStatus status = RowStatus::kOk) {
  ResultRow row;
  row.Set(Column::kOperation, "matmul");
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kDtype, "float");
  row.Set(Column::kRows, n);
  row.Set(Column::kCols, n);
  row.Set(Column::kDepth, n);
  row.Set(Column::kKernelMsMedian, kernel_ms);
  row.Set(Column::kTotalMs, total_ms);
  row.Set(Column::kGflops, 2e-6 * n * n * n / kernel_ms);
  row.SetStatus(status);
  return row;
}

TEST(SetSpeedups, ComparesWithTheStepBeforeAndTheFastestCpu) {
  const std::vector<ResultRow> rows = {
      Row("cpu_naive", 64, 16, 16), Row("eigen", 64, 8, 8), Row("naive", 64, 4, 9),
      Row("tiled", 32, 1, 1),  // Another size.
  };
  ResultRow tiled = Row("tiled", 64, 2, 7);
  SetSpeedups(rows, &tiled);
  EXPECT_EQ(tiled.Get(Column::kSpeedupVsPrevious), "2");
  EXPECT_EQ(tiled.Get(Column::kSpeedupVsCpu), "4");
  ResultRow eigen = Row("eigen", 64, 8, 8);
  SetSpeedups(rows, &eigen);
  EXPECT_EQ(eigen.Get(Column::kSpeedupVsPrevious), "2");
  EXPECT_EQ(eigen.Get(Column::kSpeedupVsCpu), "");
}

TEST(SetSpeedups, ComparesRowsOfOneFormOnly) {
  for (const Column column : {Column::kLayout, Column::kAlpha, Column::kBeta, Column::kBatch}) {
    ResultRow plain = Row("naive", 64, 4, 9);
    ResultRow tiled = Row("tiled", 64, 2, 7);
    tiled.Set(column, "7");
    SetSpeedups({plain}, &tiled);
    EXPECT_EQ(tiled.Get(Column::kSpeedupVsPrevious), "") << ColumnName(column);
    plain.Set(column, "7");
    SetSpeedups({plain}, &tiled);
    EXPECT_EQ(tiled.Get(Column::kSpeedupVsPrevious), "2") << ColumnName(column);
    EXPECT_EQ(MatMulConclusions({plain, tiled}), "") << ColumnName(column);
  }
}

TEST(SetSpeedups, StaysEmptyWithNothingToCompare) {
  const std::vector<ResultRow> rows = {Row("naive", 64, 4, 9, RowStatus::kMismatch)};
  ResultRow tiled = Row("tiled", 64, 2, 7);
  SetSpeedups(rows, &tiled);
  EXPECT_EQ(tiled.Get(Column::kSpeedupVsPrevious), "");
  EXPECT_EQ(tiled.Get(Column::kSpeedupVsCpu), "");
  ResultRow failed = Row("tiled", 64, 2, 7, RowStatus::kMismatch);
  SetSpeedups({Row("naive", 64, 4, 9)}, &failed);
  EXPECT_EQ(failed.Get(Column::kSpeedupVsPrevious), "");
}

// The GPU wins at 32 by chance, loses at 64, and wins from 128 on: 128 is the answer.
TEST(MatMulConclusions, FindsWhereTheGpuWinsForGood) {
  std::vector<ResultRow> rows;
  const double cpu[] = {5, 5, 20, 80};
  const double gpu[] = {4, 6, 7, 8};
  const double total[] = {9, 9, 21, 30};
  for (int i = 0; i < 4; ++i) {
    rows.push_back(Row("eigen", 32 << i, cpu[i], cpu[i]));
    rows.push_back(Row("cublas", 32 << i, gpu[i], total[i]));
  }
  const std::string text = MatMulConclusions(rows);
  EXPECT_NE(text.find("from n = 128 on (10 times at 256)"), std::string::npos) << text;
  EXPECT_NE(text.find("from n = 256 on (2.67 times at 256)"), std::string::npos) << text;
}

TEST(MatMulConclusions, SaysWhenTheCpuStaysAhead) {
  const std::string text = MatMulConclusions({Row("eigen", 32, 1, 1), Row("cublas", 32, 2, 3)});
  EXPECT_NE(text.find("the CPU is still faster at n = 32"), std::string::npos) << text;
}

TEST(MatMulConclusions, ListsTheStepsAtTheLargestSharedSize) {
  const std::string text =
      MatMulConclusions({Row("naive", 64, 4, 4), Row("tiled", 64, 2, 2), Row("naive", 128, 8, 8),
                         Row("tiled", 128, 5, 5), Row("tiled", 256, 9, 9)});
  EXPECT_NE(text.find("Steps at n = 128"), std::string::npos) << text;
}

TEST(MatMulConclusions, IsEmptyWithoutAGpu) {
  EXPECT_EQ(MatMulConclusions({Row("eigen", 32, 1, 1)}), "");
  EXPECT_EQ(MatMulConclusions({}), "");
}

}  // namespace
}  // namespace stridewise
