// Plans on a GPU: what they run is right, what they do not fit they refuse, and measuring leaves
// the caller's matrices alone.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/matrix.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/plan.h"

namespace stridewise {
namespace {

class MatMulPlanGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
  }

  // A product of random matrices on the device, `offset` floats behind a multiple of 256 bytes.
  void Make(int64_t m, int64_t n, int64_t k, int64_t offset = 0) {
    problem_ = MatMulProblem();
    problem_.m = m;
    problem_.n = n;
    problem_.k = k;
    problem_.a = {Filled(m * k, offset, 1, &a_), k};
    problem_.b = {Filled(k * n, offset, 2, &b_), n};
    problem_.c = {Filled(m * n, offset, 3, &c_), n};
  }

  float* Filled(int64_t count, int64_t offset, uint64_t seed, DeviceBuffer* buffer) {
    auto allocated = DeviceBuffer::Allocate(static_cast<size_t>(count + offset) * sizeof(float));
    EXPECT_TRUE(allocated.ok()) << allocated.status();
    *buffer = *std::move(allocated);
    const int64_t all = count + offset;
    EXPECT_TRUE(
        FillUniformOnDevice(Matrix<float>{buffer->As<float>(), 1, all, all}, seed, nullptr).ok());
    EXPECT_TRUE(gpu::Synchronize(nullptr).ok());
    return buffer->As<float>() + offset;
  }

  std::vector<float> Result() const {
    std::vector<float> c(static_cast<size_t>(problem_.m * problem_.n));
    EXPECT_TRUE(gpu::Synchronize(nullptr).ok());
    EXPECT_TRUE(gpu::Copy(c.data(), problem_.c.data, c.size() * sizeof(float)).ok());
    return c;
  }

  MatMulProblem problem_;
  DeviceBuffer a_, b_, c_;
};

TEST_F(MatMulPlanGpuTest, PlannedAndMeasuredProductsAreRight) {
  const struct {
    int64_t m, n, k, offset;
  } cases[] = {{7, 5, 3, 0},       {1, 4096, 2048, 0}, {300, 200, 1000, 0},
               {300, 201, 999, 1}, {64, 64, 9000, 0},  {2048, 2048, 512, 0}};
  for (const auto& c : cases) {
    Make(c.m, c.n, c.k, c.offset);
    const std::vector<float> before = Result();
    ASSERT_TRUE(MatMul(problem_, nullptr).ok());
    const std::vector<float> expected = Result();
    for (const auto planning : {MatMulPlanning::kEstimate, MatMulPlanning::kMeasure}) {
      MatMulPlanOptions options;
      options.planning = planning;
      ASSERT_TRUE(gpu::Copy(problem_.c.data, before.data(), before.size() * sizeof(float)).ok());
      const auto plan = PlanMatMul(problem_, options);
      ASSERT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(plan->is_measured(), planning == MatMulPlanning::kMeasure);
      EXPECT_GT(plan->us(), 0);
      EXPECT_EQ(Result(), before) << "planning wrote C";
      const auto workspace = DeviceBuffer::Allocate(static_cast<size_t>(plan->workspace_bytes()));
      ASSERT_TRUE(workspace.ok());
      MatMulProblem with = problem_;
      with.workspace = plan->workspace_bytes() > 0 ? workspace->data() : nullptr;
      with.workspace_bytes = plan->workspace_bytes();
      for (const MatMulProblem& problem : {with, problem_}) {
        ASSERT_TRUE(MatMul(*plan, problem, nullptr).ok()) << MatMul(*plan, problem, nullptr);
        const std::vector<float> result = Result();
        for (size_t i = 0; i < result.size(); ++i) {
          ASSERT_NEAR(result[i], expected[i], 1e-5 * static_cast<double>(c.k) + 1e-4)
              << plan->kernel() << " at " << i;
        }
      }
    }
  }
}

TEST_F(MatMulPlanGpuTest, AnotherProblemIsRefused) {
  Make(64, 64, 64);
  const auto plan = PlanMatMul(problem_);
  ASSERT_TRUE(plan.ok()) << plan.status();
  MatMulProblem other = problem_;
  other.n = 63;
  EXPECT_EQ(MatMul(*plan, other, nullptr).code(), absl::StatusCode::kInvalidArgument);
  other = problem_;
  other.a.data = static_cast<const float*>(problem_.a.data) + 1;
  other.m = 63;
  EXPECT_EQ(MatMul(*plan, other, nullptr).code(), absl::StatusCode::kInvalidArgument);
  other = problem_;
  other.k = -1;
  EXPECT_EQ(MatMul(*plan, other, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(MatMul(*plan, problem_, nullptr).ok());
}

// A loaded plan names a kernel that cannot take the call.
TEST_F(MatMulPlanGpuTest, AKernelThatDoesNotTakeTheCallIsRefused) {
  Make(1, 1, 1);
  problem_.a.ld = (int64_t{1} << 23) + 1;
  MatMulPlans plans;
  const auto made = plans.Get(problem_);
  ASSERT_TRUE(made.ok()) << made.status();
  std::string text = plans.ToText();
  text.replace(text.find(" " + made->kernel() + " "), made->kernel().size() + 2, " ragged ");
  ASSERT_TRUE(plans.AddText(text).ok()) << text;
  const auto forced = plans.Get(problem_);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(forced->kernel(), "ragged");
  const absl::Status status = MatMul(*forced, problem_, nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(std::string(status.message()).find("ragged"), std::string::npos);
}

}  // namespace
}  // namespace stridewise
