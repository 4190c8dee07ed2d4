// Plans as texts: what was saved comes back, and what is no plan is refused.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "matmul/plan.h"
#include "matmul/test/plan_fixture.h"

namespace stridewise {
namespace {

using SavedPlansTest = PlanTest;

TEST_F(SavedPlansTest, TextsComeBack) {
  MatMulPlans plans;
  for (const int64_t n : {5, 64, 512, 3000}) ASSERT_TRUE(plans.Get(Square(n), ForH200()).ok());
  const std::string text = plans.ToText();
  MatMulPlans again;
  ASSERT_TRUE(again.AddText(text).ok()) << again.AddText(text);
  EXPECT_EQ(again.ToText(), text);
  EXPECT_EQ(again.size(), 4u);
  // A plan that is there is used, whatever would be chosen today.
  const std::string forced =
      absl::StrCat("stridewise_plans 2\n", H200Words(),
                   " 64 64 64 1 64 64 64 284 general_tile 0 measured 12.5\n");
  ASSERT_TRUE(again.AddText(forced).ok()) << again.AddText(forced);
  EXPECT_EQ(again.size(), 4u);
  const auto plan = again.Get(Square(64), ForH200());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->kernel(), "general_tile");
  EXPECT_TRUE(plan->is_measured());
  EXPECT_EQ(plan->us(), 12.5);
  // A kernel that this program does not have has no plan.
  ASSERT_TRUE(again
                  .AddText(absl::StrCat("stridewise_plans 2\n", H200Words(),
                                        " 9 9 9 1 9 9 9 256 of_tomorrow 0 measured 1\n"))
                  .ok());
  EXPECT_EQ(again.size(), 4u);
}

TEST_F(SavedPlansTest, APlanOfOneMemoryRateIsNotUsedWithAnother) {
  MatMulPlans plans;
  ASSERT_TRUE(plans.Get(Square(1000), ForH200()).ok());
  MatMulPlans loaded;
  ASSERT_TRUE(loaded.AddText(plans.ToText()).ok());
  EXPECT_TRUE(loaded.Find(Square(1000), ForH200()).has_value());
  EXPECT_FALSE(loaded.Find(Square(1000), ForH100()).has_value());
  const auto own = loaded.Get(Square(1000), ForH100());
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own->us(), PlanMatMul(Square(1000), ForH100())->us());
  EXPECT_NE(own->us(), loaded.Find(Square(1000), ForH200())->us());
  EXPECT_EQ(loaded.size(), 2u);
}

TEST_F(SavedPlansTest, TextsWithoutMemoryRatesServeAnyRate) {
  MatMulPlans plans;
  const std::string old =
      "stridewise_plans 1\n90 132 64 64 64 1 64 64 64 284 general_tile 0 measured 12.5\n";
  ASSERT_TRUE(plans.AddText(old).ok()) << plans.AddText(old);
  for (const MatMulPlanOptions& options : {ForH200(), ForH100()}) {
    const auto plan = plans.Find(Square(64), options);
    ASSERT_TRUE(plan.has_value());
    EXPECT_EQ(plan->kernel(), "general_tile");
  }
  EXPECT_EQ(plans.ToText(),
            "stridewise_plans 2\n90 132 0 64 64 64 1 64 64 64 284 general_tile 0 measured 12.5\n");
  // One that names the rate goes before it, where the rate is that.
  const auto own = PlanMatMul(Square(64), ForH100());
  ASSERT_TRUE(own.ok()) << own.status();
  plans.Add(*own);
  EXPECT_EQ(plans.size(), 2u);
  EXPECT_FALSE(plans.Find(Square(64), ForH100())->is_measured());
  EXPECT_TRUE(plans.Find(Square(64), ForH200())->is_measured());
}

TEST_F(SavedPlansTest, BadTextsAreRefusedWithTheLine) {
  const std::string head = "stridewise_plans 2\n";
  const std::string key = H200Words() + " 9 9 9 1 9 9 9 256 ";
  const struct {
    std::string text, says;
  } cases[] = {
      {"", "line 1: not 'stridewise_plans 2'"},
      {"stridewise_plans 3\n", "line 1: not 'stridewise_plans 2'"},
      {"stridewise_plans 1\n" + key + "tiny 0 measured 1\n",
       "line 2: it has 15 words; a plan has 14"},
      {head + "90 132 9 9 9 1 9 9 9 256 tiny 0 measured 1\n",
       "line 2: it has 14 words; a plan has 15"},
      {"plans\n", "line 1: "},
      {head + "\n" + key + "tiny 0 measured 1\n90 132\n", "line 4: it has 2 words"},
      {head + H200Words() + " 9 9 -9 1 9 9 9 256 tiny 0 measured 1\n", "line 2: '-9'"},
      {head + H200Words() + " 9 9 x 1 9 9 9 256 tiny 0 measured 1\n", "line 2: 'x'"},
      {head + key + "tiny -1 measured 1\n", "line 2: a kernel is followed by"},
      {head + key + "tiny 0 guessed 1\n", "line 2: a kernel is followed by"},
      {head + key + "tiny 0 measured nan\n", "line 2: a kernel is followed by"},
  };
  for (const auto& c : cases) {
    MatMulPlans plans;
    const absl::Status status = plans.AddText(c.text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_EQ(std::string(status.message()).rfind(c.says, 0), 0u) << status;
    EXPECT_EQ(plans.size(), 0u) << c.text;
  }
}

}  // namespace
}  // namespace stridewise
