// INT8 products with up to 64 rows or columns on the host executor: each tile, in each direction,
// whose k is divided by each number of blocks.

#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/args.h"
#include "matmul/device/few_int8/plan.h"
#include "matmul/test/kernels_on_executor_test.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {
namespace {

class FewInt8Test : public KernelsOnExecutorTest {};

// Returns the plan of a call with B along k.
DecodePlan PlanOf(const MatMulCase& c, int multiprocessors) {
  MatMulArgs args;
  args.m = c.m;
  args.n = c.n;
  args.k = c.k;
  args.batch = c.batch;
  args.a.type = args.b.type = ElementType::kS8;
  args.c.type = ElementType::kInt;
  DeviceModel device = H200Model();
  device.multiprocessors = multiprocessors;
  return PlanFewInt8(args, device);
}

TEST_F(FewInt8Test, EveryPlan) {
  // m, n, k, and multiprocessors that the call is planned for.
  const int64_t shapes[][4] = {{33, 60, 272, 1},    {60, 33, 144, 1},     {300, 60, 1168, 12},
                               {500, 60, 1552, 32}, {700, 60, 3088, 132}, {33, 250, 80, 1},
                               {120, 33, 80, 1},    {33, 300, 144, 1},    {300, 33, 144, 1},
                               {33, 200, 272, 1},   {200, 33, 272, 1},    {33, 200, 784, 1},
                               {300, 33, 400, 1}};
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
    const DecodePlan plan = PlanOf(c, calls.back().multiprocessors);
    plans.emplace(plan.cols, plan.split, plan.transposed);
  }
  EXPECT_EQ(plans.size(), std::size(shapes));
  Run<int8_t, int32_t>("tensor_few_int8", calls);
  ExpectKernels("TensorFewInt8", std::size(kFewInt8Cols));
}

// More tiles than blocks at once, tiles that are not whole, two blocks on a multiprocessor, and
// batches whose matrices lie apart or share an operand. What has more rows and columns goes to
// tensor_int8, and C of another type.
TEST_F(FewInt8Test, OtherCalls) {
  const std::vector<Call> calls = {{{33, 700, 80, 0, false, true}, 1},
                                   {{64, 200, 144, 0, false, true, -1}, 1},
                                   {{60, 250, 272, 0, false, true, 1, 2}, 4},
                                   {{40, 120, 272, 0, false, true, 2, 1, 3, 16}, 2},
                                   {{40, 200, 272, 16, false, true, 1, 0, 2, 0, true}, 2}};
  for (const Call& call : calls) {
    SCOPED_TRACE(testing::Message() << call.c);
    kernels_.clear();
    Run<int8_t, int32_t>("tensor_few_int8", {call});
    ExpectKernels("TensorFewInt8", 1);
  }
  Run<int8_t, int32_t>("tensor_few_int8", {{{72, 72, 400, 0, false, true}, 132}});
  Run<int8_t, float>("tensor_few_int8", {{{8, 72, 400, 0, false, true}, 132}});
}

}  // namespace
}  // namespace stridewise
