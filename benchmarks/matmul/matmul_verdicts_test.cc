#include "benchmarks/matmul/matmul_verdicts.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "benchmarks/matmul/matmul_plan.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr MatMulLimit kLimits[] = {
    {"squares", "cublas", "64", "", "nn,tn", 0, 1, 1.1},
    {"batch", "cublas", "", "3x5x7", "nn", 0.5, 100, 1},
};

ResultRow Row(const MatMulConfig& config, const char* implementation, double vs_cublas,
              RowStatus status = RowStatus::kOk) {
  ResultRow row;
  SetProblem(config, &row);
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kKernelMsMedian, 1);
  if (vs_cublas > 0) row.Set(Column::kVsCublas, vs_cublas);
  row.SetStatus(status);
  return row;
}

MatMulConfig Square(const char* layout) {
  return {
      nullptr, {64, 64, 64}, ElementType::kFloat, kNoBlock, {ParseLayouts("", layout)->front()}};
}

MatMulConfig Batch(int64_t batch, double beta) {
  return {nullptr, {3, 5, 7}, ElementType::kFloat, kNoBlock, {{}, 1, beta, batch}};
}

std::vector<MatMulVerdict> VerdictsOf(const std::vector<ResultRow>& rows) {
  absl::StatusOr<std::vector<MatMulVerdict>> verdicts = MatMulVerdicts(kLimits, rows);
  EXPECT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), 3u);
  return *std::move(verdicts);
}

TEST(MatMulVerdictsTest, FindsTheRowOfTheProblem) {
  const std::vector<MatMulVerdict> verdicts = VerdictsOf({
      Row(Square("nn"), "cublas", 1.1),
      Row(Square("nn"), "tiled", 0.2),
      Row(Square("nt"), "cublas", 0.3),
      Row(Square("tn"), "cublas", 1.09),
      Row(Batch(1, 0.5), "cublas", 2),
      Row(Batch(100, 0), "cublas", 2),
  });
  EXPECT_EQ(verdicts[0].verdict, Verdict::kPass);
  EXPECT_DOUBLE_EQ(*verdicts[0].vs_cublas, 1.1);
  EXPECT_EQ(verdicts[1].verdict, Verdict::kFail);
  EXPECT_EQ(verdicts[2].verdict, Verdict::kNotMeasured);
  EXPECT_EQ(VerdictsOf({Row(Batch(100, 0.5), "cublas", 1)})[2].verdict, Verdict::kPass);
}

TEST(MatMulVerdictsTest, TheLastCorrectRowCounts) {
  const auto first_of = [](const std::vector<ResultRow>& rows) {
    return VerdictsOf(rows)[0].verdict;
  };
  EXPECT_EQ(first_of({Row(Square("nn"), "cublas", 1.2, RowStatus::kMismatch)}),
            Verdict::kNotMeasured);
  EXPECT_EQ(first_of({Row(Square("nn"), "cublas", 1.2), Row(Square("nn"), "cublas", 1),
                      Row(Square("nn"), "cublas", 1.2, RowStatus::kTimeout)}),
            Verdict::kFail);
  EXPECT_EQ(first_of({Row(Square("nn"), "cublas", 0)}), Verdict::kNotMeasured);  // Not paired.
}

TEST(MatMulLimitTableTest, HasALineAndARecordForEachVerdict) {
  const std::vector<MatMulVerdict> verdicts =
      VerdictsOf({Row(Square("nn"), "cublas", 1.2), Row(Batch(100, 0.5), "cublas", 0.5)});
  const std::string text = MatMulLimitTable(verdicts);
  for (const char* part : {"64x64x64           nn         0      1     1.2000    1.1  pass",
                           "3x5x7              nn       0.5    100     0.5000      1  FAIL",
                           "limits: 1 passed, 1 failed, 1 not measured\n"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << " is not in\n" << text;
  }
  using Strings = std::vector<std::string>;
  EXPECT_EQ(MatMulLimitRecord(verdicts[2]),
            Strings({"batch", "cublas", "3", "5", "7", "nn", "0.5", "100", "0.5000", "1", "FAIL"}));
  EXPECT_EQ(MatMulLimitRecord(verdicts[1]),
            Strings({"squares", "cublas", "64", "64", "64", "tn", "0", "1", "", "1.1", ""}));
  EXPECT_EQ(MatMulLimitHeader().size(), MatMulLimitRecord(verdicts[0]).size());
}

// The table in the code: what the preset measures is what is judged, and every limit is one.
TEST(MatMulLimitsTest, ThePresetMeasuresEveryFigure) {
  const absl::StatusOr<const MatMulPreset*> preset = FindMatMulPreset("limits");
  ASSERT_TRUE(preset.ok()) << preset.status();
  EXPECT_TRUE((*preset)->pair_with_cublas);
  const auto plan = MakeMatMulPlan(**preset, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<ResultRow> rows;
  for (const MatMulConfig& config : *plan) {
    rows.push_back(Row(config, config.implementation->name.c_str(), 9));
  }
  const auto verdicts = MatMulVerdicts(MatMulLimits(), rows);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), 3u + 5 + 11 + 4 + 6 + 4 + 1 + 1);
  EXPECT_EQ(plan->size(), verdicts->size());
  for (const MatMulVerdict& v : *verdicts) {
    EXPECT_EQ(v.verdict, Verdict::kPass) << MatMulLimitTable({v});
    EXPECT_GE(v.limit->floor, 1) << v.limit->name;
    EXPECT_FALSE(absl::StrContains(v.limit->name, ",")) << "docs_tables selects by name";
  }
}

}  // namespace
}  // namespace stridewise
