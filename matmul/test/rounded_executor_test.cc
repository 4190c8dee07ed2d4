// `tensor_rounded` on the host executor, and which calls are given to it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/executor/executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/rounded_cases.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

using Problem = MatMulTestProblem<float>;

class RoundedTest : public testing::TestWithParam<MatMulPrecision> {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
    const auto implementation = OnHostExecutor(*FindMatMulImplementation("tensor_rounded"));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    implementation_ = *implementation;
  }

  static float Round(float value) { return Rounded(GetParam(), value); }

  void Run(Problem* problem) {
    problem->SetPrecision(GetParam());
    const absl::Status status =
        RunAsPlanned(implementation_, H200Model(), executor_.get(), problem);
    ASSERT_TRUE(status.ok()) << status;
  }

  MatMulImplementation implementation_;
  std::unique_ptr<executor::Executor> executor_;
};

// Operands that were rounded before give the same bits, and the product of these numbers.
TEST_P(RoundedTest, MultipliesRoundedOperands) {
  for (const MatMulCase& c : RoundedCases()) {
    SCOPED_TRACE(testing::Message() << c);
    Problem problem(c);
    Run(&problem);
    EXPECT_EQ(executor::Executor::KernelName(executor_->launches().front()), "RoundOperands");
    Problem rounded(c);
    rounded.ForOperands(Round);
    Run(&rounded);
    const std::vector<float>& got = problem.c_with_guards();
    const std::vector<float>& want = rounded.c_with_guards();
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0);
    ProductAccuracy accuracy = AccuracyOf(implementation_, rounded.args());
    accuracy.operand_unit = 0;
    const absl::Status check = rounded.Check(nullptr, accuracy);
    EXPECT_TRUE(check.ok()) << check;
  }
}

TEST_P(RoundedTest, RoundsEachNumberToTheNearest) {
  const std::vector<float> values = NumbersToRound();
  const auto count = static_cast<int64_t>(values.size());
  for (const bool in_a : {true, false}) {
    Problem problem({in_a ? count : 8, in_a ? 8 : count, 1, 0});
    problem.ForOperands([](float) { return 1.0f; });
    for (int64_t i = 0; i < count; ++i) {
      if (in_a) problem.SetA(i, 0, values[i]);
      if (!in_a) problem.SetB(0, i, values[i]);
    }
    Run(&problem);
    const Matrix<float> c = problem.args().C<float>();
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(in_a ? c(i, 1) : c(1, i), Round(values[i])) << std::hexfloat << values[i];
    }
  }
}

TEST_P(RoundedTest, NanStaysInItsRow) {
  Problem problem({24, 19, 37, 0});
  problem.SetA(3, 36, NAN);
  Run(&problem);
  const Matrix<float> c = problem.args().C<float>();
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      EXPECT_EQ(std::isnan(c(row, col)), row == 3) << row << ", " << col;
    }
  }
}

// Without the workspace, and where operands are not read, no copies are made.
TEST_P(RoundedTest, IsTf32WithoutCopies) {
  const auto expect_no_copies = [&](const MatMulCase& c, int64_t workspace_bytes) {
    SCOPED_TRACE(testing::Message() << c);
    Problem problem(c);
    problem.SetPrecision(GetParam());
    executor_->ClearLaunches();
    const absl::Status status =
        RunOnExecutor(implementation_, kNoBlock, workspace_bytes, executor_.get(), &problem);
    ASSERT_TRUE(status.ok()) << status;
    for (const executor::LaunchReport& launch : executor_->launches()) {
      EXPECT_NE(executor::Executor::KernelName(launch), "RoundOperands");
    }
    ProductAccuracy accuracy = AccuracyOf(implementation_, problem.args());
    accuracy.operand_unit = 0x1p-11;
    EXPECT_TRUE(problem.Check(nullptr, accuracy).ok()) << problem.Check(nullptr, accuracy);
  };
  expect_no_copies({33, 31, 40, 1}, 0);
  MatMulCase unread = {33, 31, 40, 1};
  unread.alpha = 0;
  unread.beta = 2;
  expect_no_copies(unread, 1 << 20);
  expect_no_copies({5, 3, 0, 0}, 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Precisions, RoundedTest, testing::ValuesIn(kRoundedTo),
                         [](const auto& info) { return PrecisionName(info.param); });

// Copies pay where what they halve is long: TF32 takes the others, and FP32 what nothing else runs.
TEST(RoundedChoice, RoundsWhereItPays) {
  const auto chosen = [](int64_t m, int64_t n, int64_t k, DeviceModel device, bool workspace) {
    MatMulArgs args;
    args.m = m;
    args.n = n;
    args.k = k;
    args.a.ld = k;
    args.b.ld = args.c.ld = n;
    args.precision = MatMulPrecision::kBf16;
    args.device_model = &device;
    if (workspace) args = WithAnyWorkspace(args);
    return std::string(ChooseMatMul(args, device).implementation);
  };
  EXPECT_EQ(chosen(4096, 4096, 4096, H200Model(), true), "tensor_rounded");
  EXPECT_EQ(chosen(4096, 4096, 4096, H200Model(), false), "tensor_tf32");
  // 42 us and 53; 73 us and 68; 155 us and 108.
  EXPECT_EQ(chosen(128, 4096, 4096, H200Model(), true), "tensor_rounded");
  EXPECT_EQ(chosen(8192, 128, 4096, H200Model(), true), "tensor_few_tf32");
  EXPECT_EQ(chosen(8192, 256, 8192, H200Model(), true), "tensor_tf32");
  EXPECT_NE(chosen(3, 16384, 4096, H200Model(), true), "tensor_tf32");  // FP32 reads B once, too.
  EXPECT_NE(chosen(3, 16384, 4096, H200Model(), true), "tensor_rounded");
  DeviceModel ampere = H200Model();
  ampere.compute_capability = 80;
  EXPECT_EQ(chosen(1024, 1024, 1024, ampere, true), "tensor_rounded");
  EXPECT_EQ(chosen(1024, 1024, 1024, ampere, false), "tensor_mma_tf32");
}

}  // namespace
}  // namespace stridewise
