// INT8 products with few tiles on the host executor: each width of tile, in each direction, whose k
// is divided by each number of blocks.

#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/int8/split_plan.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

class Int8SplitTest : public KernelsOnExecutorTest {};

// Returns the plan of a call with B along k.
Int8SplitPlan PlanOf(const MatMulCase& c, int multiprocessors) {
  MatMulArgs args;
  args.m = c.m;
  args.n = c.n;
  args.k = c.k;
  args.batch = c.batch;
  args.c.ld = c.n + 3 * c.pad;
  DeviceModel device = H200Model();
  device.multiprocessors = multiprocessors;
  return PlanInt8Split(args, device);
}

TEST_F(Int8SplitTest, EveryPlan) {
  // Of C, and of C transposed: for each width of tile one that 1, 2, 3, 4, 6 and 8 blocks divide.
  const int64_t shapes[][3] = {
      {130, 1, 80},   {72, 1, 144},   {12, 1, 272},   {12, 1, 400},    {12, 1, 656},
      {12, 1, 1552},  {1, 130, 144},  {1, 260, 144},  {1, 1, 272},     {1, 1, 400},
      {1, 1, 656},    {1, 1, 1552},   {200, 12, 80},  {260, 12, 144},  {24, 12, 272},
      {24, 12, 400},  {24, 12, 656},  {24, 12, 1552}, {12, 130, 144},  {12, 260, 144},
      {12, 12, 272},  {12, 12, 400},  {12, 12, 656},  {12, 12, 1552},  {130, 30, 80},
      {260, 30, 144}, {72, 30, 272},  {40, 30, 400},  {40, 30, 656},   {40, 30, 1552},
      {24, 130, 144}, {24, 260, 144}, {24, 30, 528},  {24, 30, 400},   {24, 30, 656},
      {24, 30, 1552}, {200, 130, 80}, {72, 130, 144}, {72, 60, 528},   {72, 60, 784},
      {72, 60, 656},  {72, 60, 1552}, {60, 130, 80},  {130, 130, 144}, {40, 130, 272},
      {40, 60, 784},  {40, 60, 656},  {40, 60, 1552}};
  const double alphas[] = {1, -3, 1};
  const double betas[] = {0, 2, 1};
  std::set<std::tuple<int, int, bool>> plans;
  std::vector<Call> calls;
  for (const auto& [m, n, k] : shapes) {
    MatMulCase c = {m, n, k, 0, false, true};
    c.pad = calls.size() % 2 == 0 ? 0 : 16;
    c.alpha = alphas[calls.size() % std::size(alphas)];
    c.beta = betas[calls.size() % std::size(betas)];
    calls.push_back({c, m == 130 && n == 130 ? 2 : 1});
    const Int8SplitPlan plan = PlanOf(c, calls.back().multiprocessors);
    plans.emplace(plan.cols, plan.split, plan.transposed);
  }
  EXPECT_EQ(plans.size(), std::size(kInt8SplitCols) * 2 * 6);
  Run<int8_t, int32_t>("tensor_int8", calls);
  ExpectKernels("TensorInt8Split", std::size(kInt8SplitCols));
}

// Blocks with more steps than stages, batches whose matrices lie apart or share an operand, and
// operands that are copied first.
TEST_F(Int8SplitTest, MoreStepsThanStagesAndOtherCalls) {
  std::vector<Call> calls = {{{1, 260, 1168, 0, false, true}, 3},
                             {{12, 260, 1168, 0, false, true, -1}, 3},
                             {{260, 30, 1168, 0, false, true, 1, 2}, 3},
                             {{72, 130, 1168, 0, false, true}, 3},
                             {{24, 12, 400, 0, false, true, 2, 1, 3, 16}, 1},
                             {{40, 60, 784, 16, false, true, 1, 0, 2, 0, true}, 1}};
  for (const Call& call : InAllLayouts({{{40, 60, 784, 0}, 1}, {{24, 12, 401, 3}, 1}})) {
    calls.push_back(call);
  }
  Run<int8_t, int32_t>("tensor_int8", calls);
  ExpectKernels("TensorInt8Split", 4);
}

}  // namespace
}  // namespace stridewise
