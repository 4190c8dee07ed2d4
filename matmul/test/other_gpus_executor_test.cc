// What `auto` takes on GPUs that have no wgmma: kernels of mma.sync and of CUDA cores, with right
// results, in every type and precision. GPUs after Hopper have its TMA and clusters, but another
// instruction in wgmma's place.

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/executor/executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

constexpr int kMultiprocessors = 8;

class OtherGpusExecutorTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create(executor::ExecutorOptions());
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
    const auto automatic = OnHostExecutor(*FindMatMulImplementation("auto"));
    ASSERT_TRUE(automatic.ok()) << automatic.status();
    automatic_ = *automatic;
    device_.compute_capability = GetParam();
    device_.multiprocessors = kMultiprocessors;
  }

  // Expects right results of kernels with these names: of operands that the TMA could load, of odd
  // extents, and of few rows.
  template <typename T, typename Out>
  void Run(const std::set<std::string>& kernels, MatMulPrecision precision = MatMulPrecision::kFp32,
           Activation activation = Activation::kNone) {
    for (MatMulCase c : {MatMulCase{128, 144, 256, 0, false, true}, MatMulCase{65, 67, 71, 1},
                         MatMulCase{7, 160, 192, 0}}) {
      SCOPED_TRACE(testing::Message() << c);
      c.precision = precision;
      c.activation = activation;
      c.bias = activation != Activation::kNone;
      MatMulTestProblem<T, Out> problem(c);
      MatMulArgs args = problem.args();
      args.device_model = &device_;
      executor_->ClearLaunches();
      const absl::Status status =
          RunOnExecutor(automatic_, kNoBlock, MatMulWorkspaceBytes(automatic_, args),
                        executor_.get(), &problem, &device_);
      ASSERT_TRUE(status.ok()) << status;
      const absl::Status check = problem.Check(nullptr, AccuracyOf(automatic_, problem.args()));
      ASSERT_TRUE(check.ok()) << check;
      ASSERT_FALSE(executor_->launches().empty());
      for (const executor::LaunchReport& launch : executor_->launches()) {
        EXPECT_EQ(kernels.count(executor::Executor::KernelName(launch)), 1)
            << executor::Executor::KernelName(launch);
      }
    }
  }

  DeviceModel device_ = H200Model();
  MatMulImplementation automatic_;
  std::unique_ptr<executor::Executor> executor_;
};

const std::set<std::string>& CudaCores() {
  static const auto& names = *new std::set<std::string>{"WholeTiles", "SkinnyTiles"};
  return names;
}

TEST_P(OtherGpusExecutorTest, Float) { Run<float, float>(CudaCores()); }
TEST_P(OtherGpusExecutorTest, Split) {
  Run<float, float>(CudaCores(), MatMulPrecision::kFp32Split);
}
TEST_P(OtherGpusExecutorTest, Tf32) { Run<float, float>({"TensorMma"}, MatMulPrecision::kTf32); }
TEST_P(OtherGpusExecutorTest, Bf16) { Run<Bf16, Bf16>({"TensorSmall"}); }
TEST_P(OtherGpusExecutorTest, Fp16) { Run<Fp16, float>({"TensorSmall"}); }
TEST_P(OtherGpusExecutorTest, EpilogueIsAPass) {
  Run<float, float>({"WholeTiles", "SkinnyTiles", "EpiloguePass"}, MatMulPrecision::kFp32,
                    Activation::kRelu);
  Run<float, float>({"TensorMma", "EpiloguePass"}, MatMulPrecision::kTf32, Activation::kGelu);
}
TEST_P(OtherGpusExecutorTest, Int8) { Run<int8_t, int32_t>({"TensorMma"}); }
TEST_P(OtherGpusExecutorTest, Fp8) { Run<E4m3, Bf16>({"TensorMma"}); }

INSTANTIATE_TEST_SUITE_P(ComputeCapabilities, OtherGpusExecutorTest,
                         testing::Values(80, 89, 100, 120));

}  // namespace
}  // namespace stridewise
