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
  // m, n, k, and multiprocessors that the call is planned for.
  const int64_t shapes[][4] = {
      {200, 1, 80, 1},   {260, 1, 144, 1},  {12, 1, 528, 1},   {12, 1, 400, 1},
      {12, 1, 656, 1},   {12, 1, 912, 1},   {1, 520, 80, 1},   {1, 260, 144, 1},
      {1, 1, 528, 1},    {1, 1, 400, 1},    {1, 1, 656, 1},    {1, 1, 912, 1},
      {130, 12, 144, 1}, {260, 12, 144, 1}, {20, 12, 528, 1},  {20, 12, 400, 1},
      {20, 12, 656, 1},  {20, 12, 912, 1},  {12, 130, 144, 1}, {12, 260, 144, 1},
      {12, 12, 528, 1},  {12, 12, 400, 1},  {12, 12, 656, 1},  {12, 12, 912, 1},
      {200, 30, 80, 1},  {260, 30, 144, 1}, {40, 30, 528, 1},  {72, 30, 400, 1},
      {40, 30, 656, 1},  {40, 30, 912, 1},  {24, 130, 144, 1}, {20, 520, 144, 1},
      {20, 30, 528, 1},  {20, 30, 784, 1},  {20, 30, 656, 1},  {20, 30, 912, 1},
      {200, 130, 80, 1}, {72, 130, 144, 1}, {72, 130, 272, 1}, {130, 60, 400, 1},
      {72, 60, 656, 1},  {72, 60, 912, 1},  {60, 130, 80, 1},  {130, 130, 144, 2},
      {40, 130, 272, 1}, {40, 60, 784, 1},  {40, 60, 1040, 1}, {40, 60, 912, 1}};
  const double alphas[] = {1, -3, 1};
  const double betas[] = {0, 2, 1};
  std::set<std::tuple<int, int, bool>> plans;
  std::vector<Call> calls;
  for (const auto& [m, n, k, multiprocessors] : shapes) {
    MatMulCase c = {m, n, k, 0, false, true};
    c.pad = calls.size() % 2 == 0 ? 0 : 16;
    c.alpha = alphas[calls.size() % std::size(alphas)];
    c.beta = betas[calls.size() % std::size(betas)];
    calls.push_back({c, static_cast<int>(multiprocessors)});
    const Int8SplitPlan plan = PlanOf(c, calls.back().multiprocessors);
    plans.emplace(plan.cols, plan.split, plan.transposed);
  }
  EXPECT_EQ(plans.size(), std::size(kInt8SplitCols) * 2 * 6);
  Run<int8_t, int32_t>("tensor_int8", calls);
  ExpectKernels("TensorInt8Split", std::size(kInt8SplitCols));
}

// Blocks with more steps than stages, and batches whose matrices lie apart or share an operand. The
// host executor has no copies of operands in other layouts: those calls are for the GPU's tests.
TEST_F(Int8SplitTest, MoreStepsThanStagesAndOtherCalls) {
  const std::vector<Call> calls = {{{1, 260, 1168, 0, false, true}, 3},
                                   {{12, 260, 1168, 0, false, true, -1}, 3},
                                   {{260, 30, 1168, 0, false, true, 1, 2}, 3},
                                   {{72, 130, 1168, 0, false, true}, 3},
                                   {{24, 12, 400, 0, false, true, 2, 1, 3, 16}, 1},
                                   {{40, 60, 784, 16, false, true, 1, 0, 2, 0, true}, 1}};
  for (const Call& call : calls) {
    SCOPED_TRACE(testing::Message() << call.c);
    kernels_.clear();
    Run<int8_t, int32_t>("tensor_int8", {call});
    ExpectKernels("TensorInt8Split", 1);
  }
}

}  // namespace
}  // namespace stridewise
