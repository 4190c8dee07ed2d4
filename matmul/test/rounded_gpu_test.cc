// `tensor_rounded`, and what else multiplies floats as BF16 or FP16, on a GPU.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"
#include "matmul/test/rounded_cases.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

using Problem = MatMulTestProblem<float>;

class RoundedGpuTest : public DeviceImplementationTest {
 protected:
  bool IsRounded() const { return GetParam() == "tensor_rounded"; }

  // Runs it, and holds C to the bound of the precision.
  void RunCase(MatMulCase c, MatMulPrecision precision, bool with_workspace) {
    SCOPED_TRACE(testing::Message() << c << (with_workspace ? "" : ", no workspace"));
    if (!implementation_->takes_epilogue) {
      c.bias = false;
      c.activation = Activation::kNone;
    }
    c.precision = precision;
    Problem problem(c);
    const absl::Status status = RunOnDevice(&problem, with_workspace);
    ASSERT_TRUE(status.ok()) << status;
    const absl::Status check = problem.Check(nullptr, AccuracyOf(*implementation_, problem.args()));
    ASSERT_TRUE(check.ok()) << check;
    if (!IsRounded() || !with_workspace || !problem.reads_a_and_b() || c.k == 0) return;
    Problem rounded(c);
    rounded.ForOperands([&](float value) { return Rounded(precision, value); });
    ASSERT_TRUE(RunOnDevice(&rounded, with_workspace).ok());
    const std::vector<float>& got = problem.c_with_guards();
    const std::vector<float>& want = rounded.c_with_guards();
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0);
    ProductAccuracy accuracy = AccuracyOf(*implementation_, rounded.args());
    accuracy.operand_unit = 0;
    const absl::Status exact = rounded.Check(nullptr, accuracy);
    EXPECT_TRUE(exact.ok()) << exact;
  }
};

TEST_P(RoundedGpuTest, Cases) {
  std::vector<MatMulCase> cases = RoundedCases();
  for (const int ops : {0, 1, 2, 3}) {
    MatMulCase c = {656, 784, 272, 0, (ops & 1) != 0, (ops & 2) != 0};
    cases.push_back(c);
    c.pad = 3;
    c.bias = true;
    c.activation = Activation::kRelu;
    cases.push_back(c);
  }
  for (const MatMulPrecision precision : kRoundedTo) {
    for (const MatMulCase& c : cases) {
      for (const bool with_workspace : {true, false}) RunCase(c, precision, with_workspace);
    }
  }
}

TEST_P(RoundedGpuTest, RandomCalls) {
  for (int64_t i = 0; i < CaseCount(/*quick=*/30, /*exhaustive=*/300); ++i) {
    const MatMulCase c = RandomMatMulCase(/*seed=*/20261127, i, {/*extent=*/400, /*batch=*/3, 900});
    RunCase(c, kRoundedTo[i % 2], /*with_workspace=*/i % 5 != 0);
  }
}

using RoundedExactlyGpuTest = RoundedGpuTest;  // Others may keep more.

// From 65520 on FP16 is infinite; subnormal numbers of both types are kept.
TEST_P(RoundedExactlyGpuTest, RoundsEachNumberToTheNearest) {
  const std::vector<float> values = NumbersToRound();
  const auto count = static_cast<int64_t>(values.size());
  for (const MatMulPrecision precision : kRoundedTo) {
    for (const bool in_a : {true, false}) {
      Problem problem({in_a ? count : 8, in_a ? 8 : count, 1, 0});
      problem.SetPrecision(precision);
      problem.ForOperands([](float) { return 1.0f; });
      for (int64_t i = 0; i < count; ++i) {
        if (in_a) problem.SetA(i, 0, values[i]);
        if (!in_a) problem.SetB(0, i, values[i]);
      }
      const absl::Status status = RunOnDevice(&problem, /*with_workspace=*/true);
      ASSERT_TRUE(status.ok()) << status;
      const Matrix<float> c = problem.args().C<float>();
      for (int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(in_a ? c(i, 1) : c(1, i), Rounded(precision, values[i]))
            << PrecisionName(precision) << ", " << std::hexfloat << values[i];
      }
    }
  }
}

TEST_P(RoundedGpuTest, NanAndInfinityStayInTheirRowAndColumn) {
  for (const MatMulCase& c : SpoiltMatMulCases(*implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        for (const MatMulPrecision precision : kRoundedTo) {
          Problem problem(c);
          problem.SetPrecision(precision);
          Spoil(value, in_a, &problem);
          ASSERT_TRUE(RunOnDevice(&problem, /*with_workspace=*/true).ok()) << c;
          const absl::Status check = CheckSpoilt(in_a, problem);
          EXPECT_TRUE(check.ok()) << c << ", " << value << ": " << check;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoundedGpuTest,
                         testing::Values("tensor_rounded", "auto", "cublas", "cublaslt"),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, RoundedExactlyGpuTest, testing::Values("tensor_rounded"),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise
