#include "benchmarks/harness/limit_verdicts.h"

#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(JudgeTest, EachRatioCanFailOrBeMissing) {
  const struct {
    std::vector<LimitedRatio> ratios;
    Verdict want;
  } kCases[] = {
      {{{1.5, 1.5}}, Verdict::kPass},  // The floor itself passes.
      {{{1.49, 1.5}}, Verdict::kFail},
      {{{std::numeric_limits<double>::quiet_NaN(), 1.5}}, Verdict::kFail},
      {{{std::nullopt, 1.5}}, Verdict::kNotMeasured},
      {{{1.5, 1.5}, {1, 2}}, Verdict::kFail},
      {{{1.5, 1.5}, {std::nullopt, 2}}, Verdict::kNotMeasured},
      {{{std::nullopt, 2}, {1.5, 1.5}}, Verdict::kNotMeasured},
      {{{1.5, 1.5}, {std::nullopt, 0}}, Verdict::kPass},  // Not asked for.
      {{{std::nullopt, 2}, {1, 1.5}}, Verdict::kFail},    // Whatever is missing beside it.
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Judge(c.ratios), c.want) << &c - kCases;
  }
}

TEST(LimitTableTest, ALineAVerdictAndTheirNumbers) {
  const std::string text = LimitTable(
      {{"case", 6, false}, {"ratio", 6, true}, {"verdict", 7, false}},
      {{"one", "1.5000", "pass"}, {"two", "", ""}, {"three", "0.9000", "FAIL"}, {"four", "", ""}});
  EXPECT_TRUE(absl::StrContains(text, "one     1.5000  pass\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "two          -  -\n")) << text;
  EXPECT_TRUE(absl::StrContains(text, "limits: 1 passed, 1 failed, 2 not measured\n")) << text;
}

TEST(LimitCellsTest, AreEmptyWhereThereIsNothing) {
  EXPECT_EQ(RatioText(1.03456), "1.0346");
  EXPECT_EQ(RatioText(std::nullopt), "");
  EXPECT_EQ(LimitText(1.1), "1.1");
  EXPECT_EQ(LimitText(0), "");
  EXPECT_EQ(VerdictName(Verdict::kNotMeasured), "");
}

}  // namespace
}  // namespace stridewise
