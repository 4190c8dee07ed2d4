#include "benchmarks/harness/limits.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "benchmarks/harness/make_config.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/test/fake_operation.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

const FakeOperation& Fake() {
  static const FakeOperation operation(
      {{"squares", Selection("tile").Sizes("64"), {{"memcpy", 0.9, 0.95}, {"library", 1.1}}},
       {"batch", Selection("naive").Shapes("3x5").Types("u8,float").Batch(100), {{"memcpy", 0.5}}},
       {"layouts", Selection("tile").Sizes("64").Axis("layouts", "tn"), {{"library", 1.5}}}});
  return operation;
}

using Rows = std::vector<ResultRow>;

// A correct row that says what speed it has beside a copy; 0 for one that was not paired.
ResultRow Row(const char* implementation, const Point& point, double pct_of_copy,
              RowStatus status = RowStatus::kOk) {
  ResultRow row;
  SetProblemColumns(Fake(), point, &row);
  if (absl::StrContains(implementation, "cpy")) row.Set(Column::kOperation, "copy");
  row.Set(Column::kImplementation, implementation);
  row.Set(Column::kGitCommit, "g1");
  row.Set(Column::kL2, "cold");
  row.Set(Column::kHostMemory, "pageable");
  row.Set(Column::kKernelMsMedian, 1);
  if (pct_of_copy > 0) row.Set(Column::kPctOfCopy, pct_of_copy);
  row.SetStatus(status);
  return row;
}

Point Square(const char* layout = "nn") {
  Point point = Fake().UsualPoint({64, 64});
  point.axes = {layout};
  return point;
}

Point Batch(const char* type, int64_t batch = 100) { return {{3, 5}, type, batch, {"nn"}}; }

ResultRow Paired(const Point& point, const char* vs_cublas) {
  ResultRow row = Row("tile", point, 0);
  row.Set(Column::kVsCublas, vs_cublas);
  return row;
}

std::vector<LimitVerdict> Judged(const Rows& rows) {
  absl::StatusOr<std::vector<LimitVerdict>> verdicts = JudgeLimits(Fake(), rows);
  EXPECT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), 4u);
  return *std::move(verdicts);
}

Verdict FirstOf(const Rows& rows) { return Judged(rows)[0].verdict; }
Verdict LastOf(const Rows& rows) { return Judged(rows)[3].verdict; }

// Squares pass, batches of u8 fail, those of float are not measured.
Rows Some() {
  return {Row("memcpy", Square(), 100),       Row("tile", Square(), 96),
          Row("library", Square(), 70),       Row("memcpy", Batch("u8"), 50),
          Row("naive", Batch("u8"), 20),      Row("memcpy", Batch("float", 1), 50),
          Row("naive", Batch("float", 1), 50)};
}

TEST(JudgeLimitsTest, RatiosAreThoseToTheSameThird) {
  const std::vector<LimitVerdict> verdicts = Judged(Some());
  EXPECT_DOUBLE_EQ(verdicts[0].ratios[0].value(), 0.96);
  EXPECT_DOUBLE_EQ(verdicts[0].ratios[1].value(), 96.0 / 70);
  EXPECT_EQ(verdicts[0].verdict, Verdict::kPass);
  EXPECT_DOUBLE_EQ(verdicts[1].ratios[0].value(), 0.4);
  EXPECT_EQ(verdicts[1].ratios.size(), 1u);
  EXPECT_EQ(verdicts[1].verdict, Verdict::kFail);
  EXPECT_FALSE(verdicts[2].ratios[0].has_value());
  EXPECT_EQ(verdicts[2].verdict, Verdict::kNotMeasured);
}

TEST(JudgeLimitsTest, APairedRatioIsTheRowsOwn) {
  EXPECT_EQ(LastOf({Paired(Square("tn"), "1.5")}), Verdict::kPass);
  EXPECT_EQ(LastOf({Paired(Square("tn"), "1.49")}), Verdict::kFail);
  EXPECT_EQ(LastOf({Paired(Square("tn"), "nan")}), Verdict::kFail);
  EXPECT_EQ(LastOf({Paired(Square("nt"), "1.5")}), Verdict::kNotMeasured);
  EXPECT_EQ(LastOf({Paired(Square(), "1.5")}), Verdict::kNotMeasured);
  EXPECT_EQ(LastOf({Row("tile", Square("tn"), 0)}), Verdict::kNotMeasured);
  ResultRow both = Paired(Square("tn"), "1.5");
  both.Set(Column::kPctOfCopy, 50);
  EXPECT_EQ(LastOf({both, Row("library", Square("tn"), 90)}), Verdict::kPass);
}

TEST(JudgeLimitsTest, EachFigureCanFailOrBeMissing) {
  const auto verdict = [](double own, double memcpy, double library) {
    return FirstOf({Row("memcpy", Square(), memcpy), Row("tile", Square(), own),
                    Row("library", Square(), library)});
  };
  EXPECT_EQ(verdict(90, 100, 80), Verdict::kPass);  // The floor itself passes; the aim is no floor.
  EXPECT_EQ(verdict(89, 100, 80), Verdict::kFail);
  EXPECT_EQ(verdict(95, 100, 87), Verdict::kFail);
  EXPECT_EQ(verdict(95, 100, 0), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(95, 0, 80), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(0, 100, 80), Verdict::kNotMeasured);
  EXPECT_EQ(verdict(80, 100, 0), Verdict::kFail);  // Whatever is missing beside it.
  EXPECT_EQ(verdict(95, 0, 87), Verdict::kFail);
  EXPECT_EQ(FirstOf({}), Verdict::kNotMeasured);
}

TEST(JudgeLimitsTest, OnlyCorrectRowsMeasuredAlikeCount) {
  const auto verdict = [](const Rows& own) {
    Rows rows = {Row("memcpy", Square(), 100), Row("library", Square(), 80)};
    rows.insert(rows.end(), own.begin(), own.end());
    return FirstOf(rows);
  };
  const ResultRow good = Row("tile", Square(), 95);
  EXPECT_EQ(verdict({good}), Verdict::kPass);
  EXPECT_EQ(verdict({Row("tile", Square(), 95, RowStatus::kMismatch)}), Verdict::kNotMeasured);
  ResultRow hot = good;
  hot.Set(Column::kL2, "hot");
  EXPECT_EQ(verdict({hot}), Verdict::kNotMeasured);
  ResultRow pinned = good;
  pinned.Set(Column::kHostMemory, "pinned");
  EXPECT_EQ(verdict({pinned}), Verdict::kNotMeasured);
  // The last row counts, and the failure of a later attempt takes nothing away.
  EXPECT_EQ(
      verdict({good, Row("tile", Square(), 70), Row("tile", Square(), 95, RowStatus::kTimeout)}),
      Verdict::kFail);
}

TEST(JudgeLimitsTest, RefusesALimitOfAnUnknownImplementation) {
  const FakeOperation broken({{"none", Selection("nonsense").Sizes("64"), {{"memcpy", 1}}}});
  EXPECT_EQ(JudgeLimits(broken, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(LimitTableTest, HasALineForEachVerdictAndTheirNumbers) {
  const std::string text = LimitTable(Fake(), Judged(Some()));
  for (const char* part :
       {"squares", "64x64", "0.9600    0.9   0.95      1.3714    1.1  pass\n",
        "3x5                u8         100  nn         0.4000    0.5      -", "FAIL\n",
        "float      100  nn              -    0.5      -           -      -  -\n",
        "limits: 1 passed, 1 failed, 2 not measured\n"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << " is not in\n" << text;
  }
}

TEST(LimitRecordsTest, HaveACellForEachColumn) {
  using Records = std::vector<std::vector<std::string>>;
  EXPECT_EQ(
      LimitRecords(Fake(), Judged(Some())),
      (Records{
          {"case", "implementation", "rows", "cols", "dtype", "layout", "batch", "ratio_to_memcpy",
           "floor", "aim", "ratio_to_library", "floor_vs_library", "verdict", "git_commit"},
          {"squares", "tile", "64", "64", "float", "nn", "1", "0.9600", "0.9", "0.95", "1.3714",
           "1.1", "pass", "g1"},
          {"batch", "naive", "3", "5", "u8", "nn", "100", "0.4000", "0.5", "", "", "", "FAIL",
           "g1"},
          {"batch", "naive", "3", "5", "float", "nn", "100", "", "0.5", "", "", "", "", ""},
          {"layouts", "tile", "64", "64", "float", "tn", "1", "", "", "", "", "1.5", "", ""}}));
}

// The tables in the code: what the preset measures is what is judged, and every limit is one.
void ExpectPresetMeasuresEveryFigure(const Operation& operation, size_t verdicts_wanted,
                                     const char* name_of_preset = kLimitsPreset) {
  const absl::StatusOr<Preset> preset = FindPreset(operation, name_of_preset);
  ASSERT_TRUE(preset.ok()) << preset.status();
  const Peer* peer = operation.FindPeer(preset->pair_with);
  ASSERT_NE(peer, nullptr) << preset->pair_with;
  const absl::StatusOr<std::vector<Config>> plan = MakePlan(operation, *preset, {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Rows rows;
  for (const Config& config : *plan) {
    const std::string& name = config.implementation->name;
    ResultRow& row = rows.emplace_back();
    SetProblemColumns(operation, config.point, &row);
    operation.DescribeImplementation(*config.implementation, &row);
    row.Set(Column::kImplementation, name);
    row.Set(Column::kKernelMsMedian, 1);
    const bool is_bound =
        operation.FindPeer(name) != nullptr || name == "memcpy" || name == "cublaslt";
    row.Set(peer->column, (is_bound ? 1 : 9) * peer->scale);
    row.SetStatus(RowStatus::kOk);
  }
  const auto verdicts = JudgeLimits(operation, rows, name_of_preset);
  ASSERT_TRUE(verdicts.ok()) << verdicts.status();
  EXPECT_EQ(verdicts->size(), verdicts_wanted);
  for (const LimitVerdict& v : *verdicts) {
    EXPECT_EQ(v.verdict, Verdict::kPass) << LimitTable(operation, {v});
    EXPECT_FALSE(absl::StrContains(v.limit->name, ",")) << "docs_tables selects by name";
    for (const Floor& floor : v.limit->floors) {
      EXPECT_GT(floor.floor, 0);
      EXPECT_TRUE(floor.aim == 0 || floor.aim > floor.floor) << v.limit->name;
    }
  }
}

TEST(LimitsPresetTest, MeasuresEveryFigureOfTransposes) {
  ExpectPresetMeasuresEveryFigure(TransposeOperations(),
                                  3 + 1 + 10 + 10 + 3 + 5 + 6 + 5 + 3 + 2 + 3);
}

TEST(LimitsPresetTest, MeasuresEveryFigureOfProducts) {
  ExpectPresetMeasuresEveryFigure(MatMulOperation(), 3 + 5 + 11 + 4 + 6 + 4 + 1 + 1);
  ExpectPresetMeasuresEveryFigure(MatMulOperation(), 9 + 3 + 30 + 4, "tensor_limits");
  ExpectPresetMeasuresEveryFigure(MatMulOperation(), 5 + 3 + 12 + 3 + 3, "precision");
  for (const Limit& limit : MatMulLimits()) {
    const double least = limit.preset == std::string(kLimitsPreset) ? 1 : 0.85;
    EXPECT_GE(limit.floors[0].floor, least) << limit.name;
  }
}

}  // namespace
}  // namespace stridewise
