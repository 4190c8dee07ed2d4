// What products of the different types may be off by.

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/element_type.h"
#include "common/verify/product_fixture.h"
#include "common/verify/validation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Operands that are rounded to TF32 first: what that may change is allowed, and little more.
TEST(CompareProduct, AllowsForRoundedOperands) {
  ProductAccuracy tf32 = AccuracyOf<float>();
  tf32.operand_unit = std::ldexp(1.0, -11);
  const std::vector<double> r = {1};
  const std::vector<double> abs_product = {1};
  const auto check = [&](float c, const ProductAccuracy& accuracy) {
    const ProductError error = CompareProduct(ViewOf(std::vector<float>{c}, 1, 1), ViewOf(r, 1, 1),
                                              ViewOf(abs_product, 1, 1), 1, accuracy);
    return CheckProduct(error, 1, accuracy).ok();
  };
  EXPECT_TRUE(check(1 + 0x1.ep-11f, tf32));
  EXPECT_FALSE(check(1 + 0x1.2p-10f, tf32));
  EXPECT_FALSE(check(1 + 0x1.ep-11f, AccuracyOf<float>()));
}

// Sums of integers are exact: an error of one is one too many, however large the sum.
TEST(CompareProduct, IntegersAreExact) {
  const ProductAccuracy exact = AccuracyOf(ElementType::kS8, ElementType::kInt, ElementType::kInt);
  const std::vector<double> r = {2000000001, -7};
  const std::vector<double> abs_product = {2000000001, 9};
  const auto check = [&](const std::vector<int32_t>& c) {
    return CheckProduct(CompareProduct(ViewOf(c, 1, 2), ViewOf(r, 1, 2), ViewOf(abs_product, 1, 2),
                                       130000, exact),
                        130000, exact)
        .ok();
  };
  EXPECT_TRUE(check({2000000001, -7}));
  EXPECT_FALSE(check({2000000000, -7}));
  EXPECT_FALSE(check({2000000001, -6}));
}

TEST(AccuracyOf, FollowsTheTypes) {
  EXPECT_EQ(AccuracyOf<float>().unit, std::ldexp(1.0, -24));
  EXPECT_EQ(AccuracyOf<double>().unit, std::ldexp(1.0, -53));
  for (const ProductAccuracy& exact : {AccuracyOf<float>(), AccuracyOf<double>()}) {
    EXPECT_EQ(exact.output_unit, 0);
    EXPECT_FALSE(exact.toward_zero);
  }
  const ProductAccuracy bf16 = AccuracyOf<Bf16>();
  EXPECT_EQ(bf16.unit, std::ldexp(1.0, -24));
  EXPECT_EQ(bf16.output_unit, std::ldexp(1.0, -8));
  EXPECT_TRUE(bf16.toward_zero);
  EXPECT_EQ(AccuracyOf(ElementType::kFp16, ElementType::kFloat, ElementType::kFloat).output_unit,
            0);
}

// Rounding to C's type is allowed for; what goes beyond it is judged as in FP32.
TEST(CompareProduct, NarrowOutputMayRoundOnce) {
  const std::vector<double> r = {1 + std::ldexp(1.0, -8), 3.3};
  const std::vector<double> abs_product = {4, 4};
  const auto compare = [&](const std::vector<Bf16>& c) {
    return CompareProduct<Bf16>(ViewOf(c, 1, 2), ViewOf(r, 1, 2), ViewOf(abs_product, 1, 2), 8);
  };
  const ProductError right = compare({Bf16(1.0f), Bf16(3.3f)});
  EXPECT_EQ(right.max_error_over_bound, 0);
  EXPECT_TRUE(CheckProduct(right, 8, AccuracyOf<Bf16>()).ok());
  const ProductError wrong = compare({Bf16(1.0f), Bf16(3.3f * (1 + 0x1p-7f))});
  EXPECT_FALSE(CheckProduct(wrong, 8, AccuracyOf<Bf16>()).ok());
}

// Of one product there is nothing that cancels an underflow.
TEST(CompareProduct, SumsInFp16MayUnderflow) {
  const ProductAccuracy accuracy =
      AccuracyOf(ElementType::kFp16, ElementType::kFp16, ElementType::kFp16);
  const std::vector<double> r = {std::ldexp(1.4, -20)};
  const auto error_of = [&](double value) {
    const std::vector<Fp16> c = {Fp16(static_cast<float>(value))};
    return CompareProduct<Fp16>(ViewOf(c, 1, 1), ViewOf(r, 1, 1), ViewOf(r, 1, 1), 1, accuracy)
        .max_error_over_bound;
  };
  EXPECT_EQ(error_of(r[0]), 0);
  EXPECT_GT(error_of(r[0] + 0x1p-24), 1);
}

TEST(CompareProduct, SmallestNumbersOfFp16AreAHalfStepApart) {
  const std::vector<double> r = {std::ldexp(1.5, -25)};
  const std::vector<double> tiny = {std::ldexp(1.5, -25)};
  const auto check = [&](float value) {
    const std::vector<Fp16> c = {Fp16(value)};
    return CompareProduct<Fp16>(ViewOf(c, 1, 1), ViewOf(r, 1, 1), ViewOf(tiny, 1, 1), 1);
  };
  EXPECT_EQ(check(0x1p-24f).max_error_over_bound, 0);
  EXPECT_GT(check(0).max_error_over_bound, 1);
}

}  // namespace
}  // namespace stridewise
