#include "matmul/reference.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/element_type.h"
#include "gtest/gtest.h"
#include "matmul/batch.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {
namespace {

// What must not be read is NaN in these problems, and would show.
TEST(ReferenceProducts, IsTheDefinitionOnTheHost) {
  for (MatMulCase c : GeneralMatMulCases(/*all=*/true)) {
    if (c.batch == 0) continue;
    MatMulTestProblem<float> problem(c);
    std::vector<double> r(c.m * c.n);
    std::vector<double> s(c.m * c.n);
    const int64_t last = c.batch - 1;
    const MatMulArgs args = OneOfBatch(problem.args(), last);
    ASSERT_TRUE(ReferenceProducts(args, {r.data(), c.m, c.n, c.n}, {s.data(), c.m, c.n, c.n}).ok());
    const ConstMatrix<float> a = args.A<float>();
    const ConstMatrix<float> b = args.B<float>();
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t col = 0; col < c.n; ++col) {
        double sum = c.beta == 0 ? 0 : c.beta * args.C<float>()(row, col);
        double absolute = std::abs(sum);
        for (int64_t i = 0; i < c.k && c.alpha != 0; ++i) {
          const double product = c.alpha * (c.transpose_a ? a(i, row) : a(row, i)) *
                                 (c.transpose_b ? b(col, i) : b(i, col));
          sum += product;
          absolute += std::abs(product);
        }
        ASSERT_NEAR(r[row * c.n + col], sum, 1e-12) << c;
        ASSERT_NEAR(s[row * c.n + col], absolute, 1e-12) << c;
      }
    }
  }
}

// 0.1 as a float is not 0.1.
TEST(ReferenceProducts, RoundsAlphaAndBetaAsTheElementTypeDoes) {
  const float a = 1;
  const float b = 1;
  float c = 1;
  MatMulArgs args;
  args.m = args.n = args.k = 1;
  args.a = {&a, 1};
  args.b = {&b, 1};
  args.c = {&c, 1};
  args.alpha = 0.1;
  args.beta = -0.2;
  double r = 0;
  double s = 0;
  ASSERT_TRUE(ReferenceProducts(args, {&r, 1, 1, 1}, {&s, 1, 1, 1}).ok());
  EXPECT_EQ(r, double{0.1f} - double{0.2f});
  EXPECT_EQ(s, double{0.1f} + double{0.2f});
}

TEST(ReferenceTerms, CountsWhatAlphaAndBetaAdd) {
  MatMulArgs args;
  args.k = 5;
  EXPECT_EQ(ReferenceTerms(args), 5);
  args.alpha = 2;
  EXPECT_EQ(ReferenceTerms(args), 7);
  args.alpha = 1;
  args.beta = 1;
  EXPECT_EQ(ReferenceTerms(args), 7);
}

// The bounds follow what sums are kept in: FP16's 11 bits at each product, FP8's 13 for all of k or
// for 128 of it.
TEST(AccuracyOf, FollowsTheSumsThatAreAskedFor) {
  const MatMulImplementation& automatic = *FindMatMulImplementation("auto");
  MatMulArgs args;
  args.m = args.n = 1;
  args.k = 4096;
  args.a.type = args.b.type = args.c.type = ElementType::kFp16;
  EXPECT_EQ(AccuracyOf(automatic, args).unit, UnitRoundoff(ElementType::kFloat));
  args.precision = MatMulPrecision::kFp16Sums;
  EXPECT_EQ(AccuracyOf(automatic, args).unit, UnitRoundoff(ElementType::kFp16));
  args.a.type = args.b.type = ElementType::kE4m3;
  args.precision = MatMulPrecision::kFp32;
  EXPECT_LT(AccuracyOf(automatic, args).unit, 0x1p-13 / 31);
  args.precision = MatMulPrecision::kFastSums;
  EXPECT_EQ(AccuracyOf(automatic, args).unit, 0x1p-13);
}

// GELU by erf and its approximation with tanh are 4.7e-4 apart where they differ most.
TEST(ReferenceProducts, KnowsBothGelus) {
  const float a = 2.7f, b = 1;
  float c = 0;
  MatMulArgs args;
  args.m = args.n = args.k = 1;
  args.a = {&a, 1};
  args.b = {&b, 1};
  args.c = {&c, 1};
  double r = 0, s = 0;
  args.epilogue.activation = Activation::kGelu;
  ASSERT_TRUE(ReferenceProducts(args, {&r, 1, 1, 1}, {&s, 1, 1, 1}).ok());
  EXPECT_NEAR(r, 2.6911124, 1e-5);
  args.epilogue.activation = Activation::kGeluErf;
  ASSERT_TRUE(ReferenceProducts(args, {&r, 1, 1, 1}, {&s, 1, 1, 1}).ok());
  EXPECT_NEAR(r, 2.6906392, 1e-6);
  EXPECT_NEAR(s, 2.7 * 1.13, 1e-6);
}

// A sum of 1 that is rounded to Bf16, and a bias of -1: nothing is left but that rounding.
TEST(AccuracyOf, HoldsTheRoundingBeforeAPassOfTheEpilogue) {
  const Bf16 bias = Bf16(-1.0f);
  MatMulArgs args;
  args.m = args.n = args.k = 1;
  args.a.type = args.b.type = ElementType::kE4m3;
  args.c.type = ElementType::kBf16;
  const MatMulImplementation& kernel = *FindMatMulImplementation("tensor_mma_8bit");
  const double plain = AccuracyOf(kernel, args).unit;
  args.epilogue.bias = &bias;
  const double rounding = AccuracyOf(kernel, args).output_unit;
  const auto terms = static_cast<double>(ReferenceTerms(args));
  EXPECT_GE(AccuracyOf(kernel, args).unit * terms, plain * terms + rounding);
}

}  // namespace
}  // namespace stridewise
