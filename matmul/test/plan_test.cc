// Plans where no GPU is needed: estimates for a GPU that is not there, texts, and what is refused.

#include "matmul/plan.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

constexpr DeviceModel kH200 = H200Model();
constexpr DeviceModel kH100 = WithMemoryRate(kH200, 3352);

MatMulPlanOptions For(const DeviceModel& device) {
  MatMulPlanOptions options;
  options.device_model = &device;
  return options;
}
MatMulPlanOptions ForH200() { return For(kH200); }
MatMulPlanOptions ForH100() { return For(kH100); }

// How a text of plans names an H200.
std::string H200Words() {
  return absl::StrCat(kH200.compute_capability, " ", kH200.multiprocessors, " ", kH200.memory_gbps);
}

MatMulProblem Square(int64_t n) {
  MatMulProblem problem;
  problem.m = problem.n = problem.k = n;
  problem.a.ld = problem.b.ld = problem.c.ld = n;
  return problem;
}

class PlanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (FindMatMulImplementation("auto")->run == nullptr) GTEST_SKIP() << "needs a CUDA toolkit";
  }
};

TEST_F(PlanTest, AnEstimateIsWhatAutoChooses) {
  for (const int64_t n : {1, 64, 256, 1000, 4096}) {
    const MatMulProblem problem = Square(n);
    const auto plan = PlanMatMul(problem, ForH200());
    ASSERT_TRUE(plan.ok()) << plan.status();
    MatMulArgs args = WithAnyWorkspace(RowMajorArgs(problem));
    args.device_model = &kH200;
    const MatMulDispatch& chosen = ChooseMatMul(args, kH200);
    EXPECT_EQ(plan->kernel(), chosen.implementation) << n;
    EXPECT_TRUE(plan->workspace_bytes() == 0 ||
                plan->workspace_bytes() == MatMulWorkspaceBytes(*chosen.entry, args));
    EXPECT_GT(plan->us(), 0);
    EXPECT_FALSE(plan->is_measured());
  }
}

TEST_F(PlanTest, AsksForNoMoreWorkspaceThanThereWillBe) {
  MatMulPlanOptions options = ForH200();
  const auto with = PlanMatMul(Square(4096), options);
  ASSERT_TRUE(with.ok()) << with.status();
  EXPECT_GT(with->workspace_bytes(), 0);
  options.max_workspace_bytes = 0;
  const auto without = PlanMatMul(Square(4096), options);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->workspace_bytes(), 0);
  EXPECT_GT(without->us(), with->us());
}

TEST_F(PlanTest, AProductWithoutElementsHasAPlan) {
  const auto plan = PlanMatMul(Square(0), ForH200());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->workspace_bytes(), 0);
}

TEST_F(PlanTest, RefusesWhatItDoesNotTake) {
  const struct {
    void (*spoil)(MatMulProblem* problem, MatMulPlanOptions* options);
    std::string says;
  } cases[] = {
      {[](MatMulProblem* p, MatMulPlanOptions*) { p->m = -1; }, "m is -1"},
      {[](MatMulProblem* p, MatMulPlanOptions*) { p->a.ld = 3; }, "lda is 3"},
      {[](MatMulProblem* p, MatMulPlanOptions*) {
         p->k = int64_t{1} << 31;
         p->a.ld = p->k;
       },
       "k is 2147483648"},
      {[](MatMulProblem*, MatMulPlanOptions* o) { o->max_workspace_bytes = -1; },
       "max_workspace_bytes is -1"},
      {[](MatMulProblem*, MatMulPlanOptions* o) { o->candidates = 0; }, "candidates is 0"},
      {[](MatMulProblem*, MatMulPlanOptions* o) { o->samples = 0; }, "samples is 0"},
      {[](MatMulProblem*, MatMulPlanOptions* o) { o->planning = MatMulPlanning::kMeasure; },
       "device_model is given"},
  };
  for (const auto& c : cases) {
    MatMulProblem problem = Square(8);
    MatMulPlanOptions options = ForH200();
    c.spoil(&problem, &options);
    const absl::Status status = PlanMatMul(problem, options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.says << ": " << status;
    EXPECT_EQ(std::string(status.message()).rfind(c.says, 0), 0u) << status;
  }
}

TEST_F(PlanTest, PlansAreKeptByShapeFormAndAlignment) {
  MatMulPlans plans;
  const auto first = plans.Get(Square(256), ForH200());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(plans.size(), 1u);
  const auto found = plans.Find(Square(256), ForH200());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kernel(), first->kernel());
  EXPECT_TRUE(found->key() == first->key());
  EXPECT_FALSE(plans.Find(Square(255), ForH200()).has_value());
  const std::vector<void (*)(MatMulProblem*)> others = {
      [](MatMulProblem* p) { p->m = 255; },
      [](MatMulProblem* p) { p->b.transposed = true; },
      [](MatMulProblem* p) { p->a.ld = 257; },
      [](MatMulProblem* p) { p->b.data = reinterpret_cast<const void*>(0x10004); },
      [](MatMulProblem* p) { p->beta = 1; },
      [](MatMulProblem* p) { p->alpha = 0; },
      [](MatMulProblem* p) {
        p->batch = 2;
        p->c.stride = 256 * 256;
      },
  };
  for (const auto& change : others) {
    MatMulProblem problem = Square(256);
    change(&problem);
    ASSERT_TRUE(plans.Get(problem, ForH200()).ok());
  }
  EXPECT_EQ(plans.size(), 1 + others.size());
  // Another pointer of the same alignment and another factor make no other plan.
  MatMulProblem same = Square(256);
  same.b.data = reinterpret_cast<const void*>(0x10010);
  same.alpha = 3;
  ASSERT_TRUE(plans.Get(same, ForH200()).ok());
  EXPECT_EQ(plans.size(), 1 + others.size());
  plans.Clear();
  EXPECT_EQ(plans.size(), 0u);
}

TEST_F(PlanTest, ColumnMajorIsTheRowMajorProductOfTheExchangedOperands) {
  MatMulProblem columns = Square(64);
  columns.layout = MatrixLayout::kColumnMajor;
  columns.m = columns.c.ld = columns.a.ld = 32;
  MatMulProblem rows = Square(64);
  rows.n = rows.c.ld = rows.b.ld = 32;
  const auto x = PlanMatMul(columns, ForH200());
  const auto y = PlanMatMul(rows, ForH200());
  ASSERT_TRUE(x.ok() && y.ok()) << x.status() << y.status();
  EXPECT_TRUE(x->key() == y->key());
}

TEST_F(PlanTest, TextsComeBack) {
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

TEST_F(PlanTest, APlanOfOneMemoryRateIsNotUsedWithAnother) {
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

TEST_F(PlanTest, TextsWithoutMemoryRatesServeAnyRate) {
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

TEST_F(PlanTest, BadTextsAreRefusedWithTheLine) {
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

TEST_F(PlanTest, ManyThreadsGetTheSamePlans) {
  MatMulPlans plans;
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> found(4);
  for (auto& of_thread : found) {
    threads.emplace_back([&plans, &of_thread] {
      for (int64_t n = 1; n < 200; ++n)
        of_thread.push_back(plans.Get(Square(n), ForH200())->kernel());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of_thread : found) EXPECT_EQ(of_thread, found[0]);
  EXPECT_EQ(plans.size(), 199u);
}

}  // namespace
}  // namespace stridewise
