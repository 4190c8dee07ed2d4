// What TF32, INT8 and FP8 round and lose on a GPU, on operands that are chosen for it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/spoilt_problem.h"
#include "matmul/test/tensor_types_test.h"

namespace stridewise {
namespace {

using Tf32RoundingGpuTest = TensorTypesGpuTest;
using Int8RoundingGpuTest = TensorTypesGpuTest;
class Fp8RoundingGpuTest : public TensorTypesGpuTest {
 protected:
  void RunAdversarial(MatMulPrecision sums);
};

// Every float is rounded as RoundToTf32() does, not cut off: ties to even, subnormals, what rounds
// to infinity, and infinity.
TEST_P(Tf32RoundingGpuTest, Tf32RoundsOperands) {
  constexpr uint32_t kMantissas[] = {0,      0xfff,  0x1000, 0x1001,   0x1fff,  0x2000,
                                     0x2fff, 0x3000, 0x3001, 0x7ff000, 0x7fffff};
  constexpr uint32_t kExponents[] = {0, 1, 2, 63, 126, 127, 128, 200, 253, 254};
  std::vector<float> values = {std::numeric_limits<float>::infinity()};
  for (const uint32_t exponent : kExponents) {
    for (const uint32_t mantissa : kMantissas) {
      for (const uint32_t sign : {0u, 1u}) {
        values.push_back(FloatOfBits(sign << 31 | exponent << 23 | mantissa));
      }
    }
  }
  for (const bool in_a : {true, false}) {
    for (const bool with_workspace : {true, false}) {
      const auto count = static_cast<int64_t>(values.size());
      MatMulTestProblem<float> problem({in_a ? count : 8, in_a ? 8 : count, 1, 0});
      problem.SetPrecision(MatMulPrecision::kTf32);
      problem.ForOperands([](float) { return 1.0f; });
      for (int64_t i = 0; i < count; ++i) {
        if (in_a) problem.SetA(i, 0, values[i]);
        if (!in_a) problem.SetB(0, i, values[i]);
      }
      const absl::Status status = RunOnDevice(&problem, with_workspace);
      ASSERT_TRUE(status.ok()) << status;
      const Matrix<float> c = problem.args().C<float>();
      for (int64_t i = 0; i < count; ++i) {
        const float want = RoundToTf32(values[i]);
        const float got = in_a ? c(i, 1) : c(1, i);
        EXPECT_EQ(got, want) << std::hexfloat << values[i] << (in_a ? " in A" : " in B")
                             << (with_workspace ? "" : ", no workspace");
      }
    }
  }
}

// The largest sum that INT32 holds: no step on the way there saturates.
TEST_P(Int8RoundingGpuTest, Int8SumsUpToTheLargestInt) {
  constexpr int64_t kDepth = 131071;
  for (const bool with_workspace : {true, false}) {
    MatMulTestProblem<int8_t, int32_t> problem({17, 24, kDepth, 0});
    problem.ForOperands([](int8_t) { return int8_t{-128}; });
    const absl::Status status = RunOnDevice(&problem, with_workspace);
    ASSERT_TRUE(status.ok()) << status;
    const Matrix<int32_t> c = problem.args().C<int32_t>();
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t col = 0; col < c.cols; ++col) ASSERT_EQ(c(row, col), 16384 * kDepth);
    }
  }
}

// Numbers of all exponents of E5m2, and k of which a few numbers decide: the bounds hold, and sums
// of positive numbers, whose errors do not cancel, show what promotion is for.
TEST_P(Fp8RoundingGpuTest, Fp8Adversarial) {
  for (const MatMulPrecision sums : {MatMulPrecision::kFp32, MatMulPrecision::kFastSums}) {
    if (TakesPrecision(*implementation_, sums, ElementType::kE5m2)) RunAdversarial(sums);
  }
}

void Fp8RoundingGpuTest::RunAdversarial(MatMulPrecision sums) {
  const MatMulCase deep = {144, 160, 8192, 0, false, true};
  MatMulTestProblem<E5m2, float> wide(deep);
  wide.SetPrecision(sums);
  int64_t number = 0;
  wide.ForOperands([&](E5m2 value) {
    const float wide_value = value;
    const int exponent = static_cast<int>(Mix64(static_cast<uint64_t>(number++)) % 24) - 16;
    return E5m2(std::ldexp(wide_value, exponent));
  });
  ASSERT_TRUE(RunOnDevice(&wide, true).ok());
  const ProductAccuracy accuracy = AccuracyOf(*implementation_, wide.args());
  const absl::Status check =
      wide.Check(nullptr, {accuracy.unit * std::sqrt(deep.k), accuracy.output_unit,
                           accuracy.output_least, accuracy.toward_zero});
  EXPECT_TRUE(check.ok()) << check;

  MatMulTestProblem<E5m2, float> positive(deep);
  positive.SetPrecision(sums);
  positive.ForOperands([](E5m2 value) { return E5m2(std::abs(static_cast<float>(value))); });
  ASSERT_TRUE(RunOnDevice(&positive, true).ok());
  const Matrix<float> c = positive.args().C<float>();
  std::vector<double> r(static_cast<size_t>(deep.m * deep.n));
  std::vector<double> s(r.size());
  ASSERT_TRUE(ReferenceProducts(positive.args(), {r.data(), deep.m, deep.n, deep.n},
                                {s.data(), deep.m, deep.n, deep.n})
                  .ok());
  double worst = 0;
  for (int64_t i = 0; i < deep.m * deep.n; ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(c(i / deep.n, i % deep.n)) / r[i] - 1));
  }
  RecordProperty("worst_relative_error", std::to_string(worst));
  std::printf("%s, %s: relative error of positive sums of k = %d: %.2e\n", GetParam().c_str(),
              PrecisionName(sums), static_cast<int>(deep.k), worst);
  if (sums == MatMulPrecision::kFastSums) return;  // Four tiles: promoted sums may be faster.
  if (implementation_->math == "tensor_fast") {
    EXPECT_GT(worst, 0x1p-8);
  } else {
    EXPECT_LT(worst, 0x1p-9);
  }
}

// A NaN, or an infinity, spoils its row or column and nothing else: zero padding must not meet it.
TEST_P(Tf32RoundingGpuTest, NanAndInfinityStayInTheirRowAndColumn) {
  for (const MatMulCase& c : SpoiltMatMulCases(*implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        for (const bool with_workspace : {true, false}) {
          MatMulTestProblem<float> problem(c);
          problem.SetPrecision(MatMulPrecision::kTf32);
          Spoil(value, in_a, &problem);
          ASSERT_TRUE(RunOnDevice(&problem, with_workspace).ok()) << c;
          const absl::Status check = CheckSpoilt(in_a, problem);
          ASSERT_TRUE(check.ok()) << c << ", " << value << " in " << (in_a ? "A: " : "B: ")
                                  << check;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Tf32RoundingGpuTest, TensorTypesImplementations(TakesTf32),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, Int8RoundingGpuTest, TensorTypesImplementations([](const auto& i) {
                           return TakesTypes(i, ElementType::kS8, ElementType::kInt);
                         }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, Fp8RoundingGpuTest, TensorTypesImplementations([](const auto& i) {
                           return TakesTypes(i, ElementType::kE5m2, ElementType::kFloat);
                         }),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise
