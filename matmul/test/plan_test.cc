// Plans where no GPU is needed: estimates for a GPU that is not there, and what is refused.

#include "matmul/plan.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"
#include "matmul/test/plan_fixture.h"

namespace stridewise {
namespace {

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
      [](MatMulProblem* p) { p->precision = MatMulPrecision::kFp16; },
      [](MatMulProblem* p) { p->a.type = p->b.type = p->c.type = ElementType::kFp16; },
      [](MatMulProblem* p) {
        p->a.type = p->b.type = p->c.type = ElementType::kFp16;
        p->precision = MatMulPrecision::kFp16Sums;
      },
      [](MatMulProblem* p) { p->a.type = p->b.type = ElementType::kE5m2; },
      [](MatMulProblem* p) {
        p->a.type = p->b.type = ElementType::kE5m2;
        p->precision = MatMulPrecision::kFastSums;
      },
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
