// What GPUs without wgmma run: `auto` takes kernels of mma.sync and of CUDA cores, with right
// results, in every type and precision; and no kernel that such a GPU may run needs more shared
// memory than it has. GPUs after Hopper have its TMA and clusters, but another instruction in
// wgmma's place.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

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

struct Gpu {
  const char* name;
  int compute_capability;
  int max_shared_kb;
};

std::ostream& operator<<(std::ostream& out, const Gpu& gpu) { return out << gpu.name; }

class OtherGpusExecutorTest : public testing::TestWithParam<Gpu> {
 protected:
  void SetUp() override {
    device_.compute_capability = GetParam().compute_capability;
    device_.multiprocessors = kMultiprocessors;
    device_.max_shared_bytes = GetParam().max_shared_kb << 10;
    executor::ExecutorOptions options;
    options.max_shared_bytes = static_cast<size_t>(device_.max_shared_bytes);
    auto executor = executor::Executor::Create(options);
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // Expects the right result.
  template <typename T, typename Out>
  void RunCase(const MatMulImplementation& implementation, const MatMulCase& c) {
    MatMulTestProblem<T, Out> problem(c);
    const absl::Status status = RunAsPlanned(implementation, device_, executor_.get(), &problem);
    ASSERT_TRUE(status.ok()) << status;
    const absl::Status check = problem.Check(nullptr, AccuracyOf(implementation, problem.args()));
    ASSERT_TRUE(check.ok()) << check;
  }

  // Expects that `auto` runs kernels with these names: for operands that the TMA could load, of odd
  // extents, and of few rows.
  template <typename T, typename Out>
  void Run(const std::set<std::string>& kernels, MatMulPrecision precision = MatMulPrecision::kFp32,
           Activation activation = Activation::kNone) {
    const auto automatic = OnHostExecutor(*FindMatMulImplementation("auto"));
    ASSERT_TRUE(automatic.ok()) << automatic.status();
    for (MatMulCase c : {MatMulCase{128, 144, 256, 0, false, true}, MatMulCase{65, 67, 71, 1},
                         MatMulCase{7, 160, 192, 0}}) {
      SCOPED_TRACE(testing::Message() << c);
      c.precision = precision;
      c.activation = activation;
      c.bias = activation != Activation::kNone;
      RunCase<T, Out>(*automatic, c);
      ASSERT_FALSE(executor_->launches().empty());
      for (const executor::LaunchReport& launch : executor_->launches()) {
        EXPECT_EQ(kernels.count(executor::Executor::KernelName(launch)), 1)
            << executor::Executor::KernelName(launch);
      }
    }
  }

  // Runs some of the cases of each kernel of these types that the GPU has what it takes for.
  template <typename T, typename Out>
  void RunAll() {
    MatMulArgs types;
    types.a.type = types.b.type = kElementTypeOf<T>;
    types.c.type = kElementTypeOf<Out>;
    for (const MatMulImplementation& implementation : MatMulImplementations()) {
      if (implementation.executor != Executor::kHostExecutable ||
          FindTypes(implementation, types) == nullptr ||
          !HasWhatItTakes(device_, implementation.target)) {
        continue;
      }
      const auto on_host = OnHostExecutor(implementation);
      ASSERT_TRUE(on_host.ok()) << on_host.status();
      const std::vector<MatMulCase> cases = MatMulCasesFor(implementation);
      const size_t step = IsExhaustive() ? 40 : 60;
      for (size_t i = 0; i < cases.size(); i += step) {
        MatMulCase c = cases[i];
        if (implementation.general && i % 2 == 0) c = {130 + c.m, 70 + c.n, 40 + c.k, 0};
        SCOPED_TRACE(testing::Message() << implementation.name << ", " << c);
        c.precision = implementation.precisions.front();
        RunCase<T, Out>(*on_host, c);
      }
    }
  }

  DeviceModel device_ = H200Model();
  std::unique_ptr<executor::Executor> executor_;
};

const std::set<std::string>& CudaCores() {
  static const auto& names = *new std::set<std::string>{"WholeTiles", "SkinnyTiles", "Brief"};
  return names;
}

TEST_P(OtherGpusExecutorTest, Float) { Run<float, float>(CudaCores()); }
TEST_P(OtherGpusExecutorTest, Split) {
  Run<float, float>(CudaCores(), MatMulPrecision::kFp32Split);
}
TEST_P(OtherGpusExecutorTest, Tf32) { Run<float, float>({"TensorMma"}, MatMulPrecision::kTf32); }
TEST_P(OtherGpusExecutorTest, Rounded) {
  const std::set<std::string> kernels = {"RoundOperands", "TensorSmall", "TensorTiny"};
  Run<float, float>(kernels, MatMulPrecision::kBf16);
  Run<float, float>(kernels, MatMulPrecision::kFp16, Activation::kGelu);
}
TEST_P(OtherGpusExecutorTest, Bf16) { Run<Bf16, Bf16>({"TensorSmall", "TensorTiny"}); }
TEST_P(OtherGpusExecutorTest, Fp16) { Run<Fp16, float>({"TensorSmall", "TensorTiny"}); }
TEST_P(OtherGpusExecutorTest, EpilogueIsAPass) {
  Run<float, float>({"WholeTiles", "SkinnyTiles", "Brief", "EpiloguePass"}, MatMulPrecision::kFp32,
                    Activation::kRelu);
  Run<float, float>({"TensorMma", "EpiloguePass"}, MatMulPrecision::kTf32, Activation::kGelu);
}
TEST_P(OtherGpusExecutorTest, Int8) { Run<int8_t, int32_t>({"TensorMma"}); }
TEST_P(OtherGpusExecutorTest, Fp8) { Run<E4m3, Bf16>({"TensorMma"}); }

TEST_P(OtherGpusExecutorTest, AllKernelsOfFloat) { RunAll<float, float>(); }
TEST_P(OtherGpusExecutorTest, AllKernelsOfBf16) { RunAll<Bf16, Bf16>(); }

INSTANTIATE_TEST_SUITE_P(Gpus, OtherGpusExecutorTest,
                         testing::Values(Gpu{"sm_80", 80, 163}, Gpu{"sm_89", 89, 99},
                                         Gpu{"sm_100", 100, 227}, Gpu{"sm_120", 120, 99}),
                         [](const testing::TestParamInfo<Gpu>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace stridewise
