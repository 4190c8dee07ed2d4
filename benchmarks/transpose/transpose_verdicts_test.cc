#include "benchmarks/transpose/transpose_verdicts.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// `work` is rows, columns, type and, for several matrices, their number.
ResultRow Row(const char* implementation, const char* work, double pct_of_copy,
              RowStatus status = RowStatus::kOk, const char* l2 = "cold") {
  const std::vector<std::string> cells = absl::StrSplit(work, ' ');
  ResultRow row;
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kRows, cells[0]);
  row.Set(Column::kCols, cells[1]);
  row.Set(Column::kDtype, cells[2]);
  if (cells.size() > 3) row.Set(Column::kBatch, cells[3]);
  row.Set(Column::kL2, l2);
  row.Set(Column::kHostMemory, "pageable");
  row.Set(Column::kKernelMsMedian, 1);
  if (pct_of_copy > 0) row.Set(Column::kPctOfCopy, pct_of_copy);
  row.SetStatus(status);
  return row;
}

constexpr TransposeLimit kLimits[] = {
    {"squares", "naive_row", "64", "", "float", 1, 0.9, 0.95, 1.1},
    {"batch", "copy_row", "", "3x5", "u8,u16", 100, 0.5, 0, 0},
};

std::vector<TransposeVerdict> VerdictsOf(const std::vector<ResultRow>& rows) {
  absl::StatusOr<std::vector<TransposeVerdict>> verdicts = TransposeVerdicts(kLimits, rows);
  EXPECT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), 3u);
  return *std::move(verdicts);
}

Verdict FirstOf(const std::vector<ResultRow>& rows) { return VerdictsOf(rows)[0].verdict; }

TEST(TransposeVerdictsTest, RatiosAreThoseOfTheSharesOfACopy) {
  const std::vector<TransposeVerdict> verdicts = VerdictsOf({
      Row("memcpy", "64 64 float", 100),
      Row("naive_row", "64 64 float", 96),
      Row("cublas_geam", "64 64 float", 80),
      Row("memcpy", "3 5 u8 100", 50),
      Row("copy_row", "3 5 u8 100", 20),
      Row("memcpy", "3 5 u16", 50),  // One matrix: another problem.
      Row("copy_row", "3 5 u16", 50),
  });
  EXPECT_DOUBLE_EQ(*verdicts[0].vs_memcpy, 0.96);
  EXPECT_DOUBLE_EQ(*verdicts[0].vs_cublas, 1.2);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kPass);
  EXPECT_DOUBLE_EQ(*verdicts[1].vs_memcpy, 0.4);
  EXPECT_FALSE(verdicts[1].vs_cublas.has_value());
  EXPECT_EQ(verdicts[1].verdict, Verdict::kFail);
  EXPECT_FALSE(verdicts[2].vs_memcpy.has_value());
  EXPECT_EQ(verdicts[2].verdict, Verdict::kNotMeasured);
}

TEST(TransposeVerdictsTest, EachFigureCanFailOrBeMissing) {
  const auto verdict = [](double own, double memcpy, double cublas) {
    return FirstOf({Row("memcpy", "64 64 float", memcpy), Row("naive_row", "64 64 float", own),
                    Row("cublas_geam", "64 64 float", cublas)});
  };
  EXPECT_EQ(verdict(90, 100, 80), Verdict::kPass);  // The floor itself passes; the aim is no floor.
  EXPECT_EQ(verdict(89, 100, 80), Verdict::kFail);
  EXPECT_EQ(verdict(95, 100, 87), Verdict::kFail);
  EXPECT_EQ(verdict(95, 100, 0), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(95, 0, 80), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(0, 100, 80), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(80, 100, 0), Verdict::kFail);  // Whatever is missing beside it.
  EXPECT_EQ(FirstOf({}), Verdict::kNotMeasured);
}

TEST(TransposeVerdictsTest, OnlyCorrectRowsMeasuredAlikeCount) {
  const ResultRow memcpy = Row("memcpy", "64 64 float", 100);
  const ResultRow cublas = Row("cublas_geam", "64 64 float", 80);
  EXPECT_EQ(FirstOf({memcpy, cublas, Row("naive_row", "64 64 float", 95, RowStatus::kMismatch)}),
            Verdict::kNotMeasured);
  EXPECT_EQ(FirstOf({memcpy, cublas, Row("naive_row", "64 64 float", 95, RowStatus::kOk, "hot")}),
            Verdict::kNotMeasured);
  // The last row counts, and the failure of a later attempt takes nothing away.
  EXPECT_EQ(FirstOf({memcpy, cublas, Row("naive_row", "64 64 float", 95),
                     Row("naive_row", "64 64 float", 70),
                     Row("naive_row", "64 64 float", 95, RowStatus::kTimeout)}),
            Verdict::kFail);
}

TEST(TransposeLimitTableTest, ALineAVerdictAndTheirNumbers) {
  const std::string text = TransposeLimitTable(VerdictsOf({
      Row("memcpy", "64 64 float", 100),
      Row("naive_row", "64 64 float", 96),
      Row("cublas_geam", "64 64 float", 80),
      Row("memcpy", "3 5 u8 100", 50),
      Row("copy_row", "3 5 u8 100", 20),
  }));
  for (const char* part : {"squares", "64x64", "0.9600    0.9   0.95     1.2000    1.1  pass",
                           "3x5                u8         100     0.4000    0.5      -", "FAIL",
                           "limits: 1 passed, 1 failed, 1 not measured\n"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << " is not in\n" << text;
  }
}

TEST(TransposeLimitRecordTest, HasACellForEachColumn) {
  const std::vector<TransposeVerdict> verdicts = VerdictsOf({
      Row("memcpy", "64 64 float", 100),
      Row("naive_row", "64 64 float", 96),
      Row("cublas_geam", "64 64 float", 80),
  });
  using Strings = std::vector<std::string>;
  EXPECT_EQ(TransposeLimitRecord(verdicts[0]),
            Strings({"squares", "naive_row", "64", "64", "float", "1", "0.9600", "0.9", "0.95",
                     "1.2000", "1.1", "pass"}));
  EXPECT_EQ(TransposeLimitRecord(verdicts[1]),
            Strings({"batch", "copy_row", "3", "5", "u8", "100", "", "0.5", "", "", "", ""}));
  EXPECT_EQ(TransposeLimitHeader().size(), TransposeLimitRecord(verdicts[0]).size());
}

// The table in the code: what the preset measures is what is judged, and every limit is one.
TEST(TransposeLimitsTest, ThePresetMeasuresBothSidesOfEveryFigure) {
  const absl::StatusOr<const TransposePreset*> preset = FindTransposePreset("limits");
  ASSERT_TRUE(preset.ok()) << preset.status();
  const auto plan = MakeTransposePlan(**preset, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<ResultRow> rows;
  for (const TransposeConfig& config : *plan) {
    const std::string work =
        absl::StrCat(config.shape.rows, " ", config.shape.cols, " ", config.type.name,
                     config.batch > 1 ? absl::StrCat(" ", config.batch) : "");
    const bool library = config.implementation->name == "cublas_geam";
    rows.push_back(Row(config.implementation->name.c_str(), work.c_str(), library ? 50 : 100));
  }
  const auto verdicts = TransposeVerdicts(TransposeLimits(), rows);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), 3u + 1 + 10 + 10 + 3 + 5 + 6 + 5 + 3 + 2 + 3);
  for (const TransposeVerdict& v : *verdicts) {
    EXPECT_EQ(v.verdict, Verdict::kPass) << TransposeLimitTable({v});
    EXPECT_GT(v.limit->floor, 0);
    EXPECT_TRUE(v.limit->aim == 0 || v.limit->aim > v.limit->floor) << v.limit->name;
    EXPECT_FALSE(absl::StrContains(v.limit->name, ",")) << "docs_tables selects by name";
  }
}

}  // namespace
}  // namespace stridewise
