#include "benchmarks/transpose/transpose_speedups.h"

#include <vector>

#include "gtest/gtest.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

ResultRow Row(const char* name, int n, int block_x, int block_y, double kernel_ms, double total_ms,
              RowStatus status = RowStatus::kOk) {
  const TransposeImplementation& implementation = *FindTransposeImplementation(name);
  ResultRow row;
  row.Set(Column::kOperation, implementation.operation == TransposeOperation::kCopy ? "copy"
                              : implementation.operation == TransposeOperation::kInPlace
                                  ? "transpose_in_place"
                                  : "transpose");
  row.Set(Column::kImplementation, name);
  row.Set(Column::kDtype, "float");
  row.Set(Column::kRows, n);
  row.Set(Column::kCols, n);
  if (block_x > 0) {
    row.Set(Column::kBlockX, block_x);
    row.Set(Column::kBlockY, block_y);
  }
  if (implementation.target.where == Where::kDevice) row.Set(Column::kL2, "cold");
  row.Set(Column::kKernelMsMedian, kernel_ms);
  row.Set(Column::kTotalMs, total_ms);
  row.Set(Column::kGbps, 8e-6 * n * n / kernel_ms);
  row.SetStatus(status);
  return row;
}

std::string PreviousOf(const std::vector<ResultRow>& rows, ResultRow row) {
  SetTransposeSpeedups(rows, &row);
  return row.Get(Column::kSpeedupVsPrevious);
}

TEST(SetTransposeSpeedups, PrefersTheSameBlockAndElseTheDefaultOne) {
  const std::vector<ResultRow> rows = {
      Row("naive_row", 64, 16, 16, 99, 99), Row("naive_col", 64, 8, 32, 4, 4),
      Row("naive_col", 64, 16, 16, 6, 6),   Row("naive_col", 64, 32, 32, 8, 8),
      Row("copy_vector", 64, 256, 1, 1, 1),
  };
  EXPECT_EQ(PreviousOf(rows, Row("unroll4_row", 64, 8, 32, 2, 2)), "2");
  EXPECT_EQ(PreviousOf(rows, Row("unroll4_row", 64, 16, 16, 2, 2)), "3");
  EXPECT_EQ(PreviousOf(rows, Row("tile_square", 64, 32, 32, 2, 2)), "4");
  EXPECT_EQ(PreviousOf(rows, Row("tile_unrolled", 64, 32, 8, 2, 2)), "3");
  EXPECT_EQ(PreviousOf(rows, Row("memcpy", 64, 0, 0, 0.5, 2)), "2");
  EXPECT_EQ(PreviousOf(rows, Row("unroll4_row", 128, 8, 32, 2, 2)), "");
}

TEST(SetTransposeSpeedups, LooksForTheStepBeforeWhateverTheOrderOfRows) {
  const std::vector<ResultRow> rows = {
      Row("naive_col", 64, 16, 16, 4, 4),
      Row("naive_row", 64, 16, 16, 6, 6),
      Row("unroll4_row", 64, 16, 16, 9, 9, RowStatus::kMismatch),
  };
  EXPECT_EQ(PreviousOf(rows, Row("unroll4_col", 64, 16, 16, 2, 2)), "2");
}

TEST(SetTransposeSpeedups, HostRowsAreComparedAmongThemselvesAndWithTransposesOnly) {
  const std::vector<ResultRow> rows = {Row("cpu_naive_row", 64, 0, 0, 16, 16),
                                       Row("eigen", 64, 0, 0, 8, 8)};
  ResultRow naive = Row("naive_row", 64, 16, 16, 2, 2);
  SetTransposeSpeedups(rows, &naive);
  EXPECT_EQ(naive.Get(Column::kSpeedupVsPrevious), "");
  EXPECT_EQ(naive.Get(Column::kSpeedupVsCpu), "4");
  ResultRow copy = Row("copy_row", 64, 16, 16, 2, 2);
  SetTransposeSpeedups(rows, &copy);
  EXPECT_EQ(copy.Get(Column::kSpeedupVsCpu), "");
  ResultRow eigen = Row("eigen", 64, 0, 0, 8, 8);
  SetTransposeSpeedups(rows, &eigen);
  EXPECT_EQ(eigen.Get(Column::kSpeedupVsPrevious), "2");
  EXPECT_EQ(eigen.Get(Column::kSpeedupVsCpu), "");
}

ResultRow BatchRow(const char* name, int n, int batch, double kernel_ms) {
  const Block& block = FindTransposeImplementation(name)->default_block;
  ResultRow row = Row(name, n, static_cast<int>(block.x), static_cast<int>(block.y), kernel_ms, 9);
  row.Set(Column::kBatch, batch);
  return row;
}

TEST(SetTransposeSpeedups, BatchesAndTransposesInPlaceAreProblemsOfTheirOwn) {
  const std::vector<ResultRow> rows = {
      Row("eigen", 64, 0, 0, 8, 8), Row("naive_row", 64, 16, 16, 6, 6),
      BatchRow("naive_row", 64, 10, 60), Row("in_place_square", 64, 0, 0, 4, 4)};
  EXPECT_EQ(PreviousOf(rows, BatchRow("naive_col", 64, 10, 30)), "2");
  EXPECT_EQ(PreviousOf(rows, BatchRow("naive_col", 64, 11, 30)), "");
  EXPECT_EQ(PreviousOf(rows, Row("naive_col", 64, 16, 16, 2, 2)), "3");
  ResultRow batch = BatchRow("naive_col", 64, 10, 30);
  SetTransposeSpeedups(rows, &batch);
  EXPECT_EQ(batch.Get(Column::kSpeedupVsCpu), "");
  ResultRow in_place = Row("in_place_square", 64, 0, 0, 4, 4);
  SetTransposeSpeedups(rows, &in_place);
  EXPECT_EQ(in_place.Get(Column::kSpeedupVsPrevious), "");
  EXPECT_EQ(in_place.Get(Column::kSpeedupVsCpu), "");
  EXPECT_EQ(PreviousOf(rows, Row("cublas_geam", 64, 0, 0, 3, 3)), "2");
}

TEST(TransposeConclusions, NamesBatchesAndTransposesInPlace) {
  const std::string text =
      TransposeConclusions({Row("eigen", 64, 0, 0, 8, 8), Row("naive_row", 64, 16, 16, 9, 9),
                            BatchRow("naive_row", 64, 10, 1), BatchRow("naive_col", 64, 10, 2),
                            Row("in_place_square", 64, 0, 0, 4, 4)});
  for (const char* part : {
           "Best at 64x64 float: naive_row, ",
           "Best at 64x64 float x 10: naive_row, ",
           "Best at 64x64 float in place: in_place_square, ",
           "Kernel alone, float: the CPU is still faster",
           "Steps at 64x64 float x 10:\n  naive_row",
       }) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(TransposeConclusions, TellsTheBestTheCrossingAndTheSteps) {
  std::vector<ResultRow> rows;
  for (const int n : {64, 128}) {
    rows.push_back(Row("eigen", n, 0, 0, 4, 4));
    rows.push_back(Row("naive_row", n, 16, 16, 3, n == 64 ? 9 : 3.5));
    rows.push_back(Row("tile_square", n, 32, 32, 2, n == 64 ? 8 : 2.5));
    rows.back().Set(Column::kPctOfCopy, 87.5);
  }
  const std::string text = TransposeConclusions(rows);
  for (const char* part : {
           "Best at 128x128 float: tile_square, ",
           "87.5 % of a copy",
           "Kernel alone, float: the GPU is faster than the CPU from n = 64 on (2 times at 128)",
           "copies, float: the GPU is faster than the CPU from n = 128 on (1.6 times at 128)",
           "Steps at 128x128 float:\n  naive_row",
           "2.00 kernel alone",
           "1.60 with allocation and copies",
       }) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
  EXPECT_EQ(TransposeConclusions({}), "");
  EXPECT_EQ(TransposeConclusions({Row("eigen", 32, 0, 0, 1, 1)}), "");
}

}  // namespace
}  // namespace stridewise
