#include "common/verify/validation.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/element_type.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kU = UnitRoundoff(ElementType::kFloat);
const ProductAccuracy kFloat = AccuracyOf<float>();

template <typename T>
ConstMatrix<T> View(const std::vector<T>& data, int64_t rows, int64_t cols, int64_t ld = 0) {
  return {data.data(), rows, cols, ld == 0 ? cols : ld};
}

// Compares a 2x2 C with R = [[3, 4], [12, 0]] and |A||B| = [[4, 4], [16, 0]].
ProductError CompareTwoByTwo(const std::vector<float>& c, int64_t k_extent = 8) {
  const std::vector<double> r = {3, 4, 12, 0};
  const std::vector<double> abs_product = {4, 4, 16, 0};
  return CompareProduct(View(c, 2, 2), View(r, 2, 2), View(abs_product, 2, 2), k_extent);
}

// Operands that are rounded to TF32 first: what that may change is allowed, and little more.
TEST(CompareProduct, AllowsForRoundedOperands) {
  ProductAccuracy tf32 = AccuracyOf<float>();
  tf32.operand_unit = std::ldexp(1.0, -11);
  const std::vector<double> r = {1};
  const std::vector<double> abs_product = {1};
  const auto check = [&](float c, const ProductAccuracy& accuracy) {
    const ProductError error = CompareProduct(View(std::vector<float>{c}, 1, 1), View(r, 1, 1),
                                              View(abs_product, 1, 1), 1, accuracy);
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
    return CheckProduct(
               CompareProduct(View(c, 1, 2), View(r, 1, 2), View(abs_product, 1, 2), 130000, exact),
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
    return CompareProduct<Bf16>(View(c, 1, 2), View(r, 1, 2), View(abs_product, 1, 2), 8);
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
    return CompareProduct<Fp16>(View(c, 1, 1), View(r, 1, 1), View(r, 1, 1), 1, accuracy)
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
    return CompareProduct<Fp16>(View(c, 1, 1), View(r, 1, 1), View(tiny, 1, 1), 1);
  };
  EXPECT_EQ(check(0x1p-24f).max_error_over_bound, 0);
  EXPECT_GT(check(0).max_error_over_bound, 1);
}

TEST(CompareProduct, ExactProductIsOffByNothing) {
  const ProductError error = CompareTwoByTwo({3, 4, 12, -0.0f});
  EXPECT_EQ(error.relative_error, 0);
  EXPECT_EQ(error.max_error_over_bound, 0);
  EXPECT_EQ(error.non_finite, 0);
  EXPECT_TRUE(error.exhaustive);
  EXPECT_TRUE(CheckProduct(error, 8, kFloat).ok());
}

TEST(CompareProduct, KnownErrors) {
  const ProductError error = CompareTwoByTwo({3, 4.5, 11, 0});
  EXPECT_DOUBLE_EQ(error.relative_error, std::sqrt(0.25 + 1) / 13);
  EXPECT_DOUBLE_EQ(error.norm_error, error.relative_error);
  EXPECT_DOUBLE_EQ(error.max_error_over_bound, 0.5 / (8 * kU * 4));  // The other is 1 over 16.
  EXPECT_EQ(error.worst_row, 0);
  EXPECT_EQ(error.worst_col, 1);
  EXPECT_DOUBLE_EQ(error.max_error, 0.5 / 4);
  EXPECT_EQ(error.median_error, 0);  // The lower of the middle two, 0 and 1/16.
}

// Of entries that are rounded to a narrow type, too: they are what the product is worth.
TEST(CompareProduct, MedianAndMaximumCountAllErrors) {
  const std::vector<Bf16> c = {Bf16(2.0f), Bf16(4.0f), Bf16(8.0f)};
  const std::vector<double> r = {2 + 0x1p-8, 4 + 0x1p-9, 8};
  const std::vector<double> abs_product = {4, 4, 8};
  const ProductError error =
      CompareProduct<Bf16>(View(c, 1, 3), View(r, 1, 3), View(abs_product, 1, 3), 8);
  EXPECT_EQ(error.max_error_over_bound, 0);
  EXPECT_DOUBLE_EQ(error.max_error, 0x1p-10);
  EXPECT_NEAR(error.median_error, 0x1p-11, 0x1p-19);
}

TEST(CompareProduct, CancelledReferenceIsJudgedByItsProducts) {
  // r = 1 - 1 + 1 - ... of K = 16 products: nothing is left, and c is off by one rounding.
  const std::vector<float> c = {static_cast<float>(kU)};
  const std::vector<double> r = {0};
  const std::vector<double> abs_product = {16};
  const ProductError error =
      CompareProduct(View(c, 1, 1), View(r, 1, 1), View(abs_product, 1, 1), 16);
  EXPECT_EQ(error.relative_error, kInfinity);
  EXPECT_DOUBLE_EQ(error.norm_error, kU / (4.0 / 3 * 16 / 4));
  EXPECT_TRUE(CheckProduct(error, 16, kFloat).ok());
}

TEST(CompareProduct, EntryWithoutABoundMustBeExact) {
  const ProductError error = CompareTwoByTwo({3, 4, 12, 1e-30f});
  EXPECT_EQ(error.max_error_over_bound, kInfinity);
  EXPECT_EQ(error.worst_row, 1);
  EXPECT_EQ(error.worst_col, 1);
  EXPECT_FALSE(CheckProduct(error, 8, kFloat).ok());
}

TEST(CompareProduct, KExtentZeroMeansAllZero) {
  const std::vector<double> zeros(4, 0.0);
  for (const float corner : {0.0f, 1e-30f}) {
    const std::vector<float> c = {0, 0, 0, corner};
    const ProductError error =
        CompareProduct(View(c, 2, 2), View(zeros, 2, 2), View(zeros, 2, 2), 0);
    EXPECT_EQ(CheckProduct(error, 0, kFloat).ok(), corner == 0);
  }
}

TEST(CompareProduct, NothingNotFinitePasses) {
  for (const double value : {kNaN, kInfinity, -kInfinity}) {
    const ProductError in_c = CompareTwoByTwo({3, 4, static_cast<float>(value), NAN});
    EXPECT_EQ(in_c.non_finite, 2);
    EXPECT_EQ(in_c.relative_error, kInfinity);
    EXPECT_EQ(in_c.worst_row, 1);
    EXPECT_EQ(in_c.worst_col, 0);
    EXPECT_FALSE(CheckProduct(in_c, 8, kFloat).ok());

    // Equal to its reference, but such a reference proves nothing.
    const std::vector<float> c = {static_cast<float>(value)};
    const std::vector<double> r = {value};
    const std::vector<double> abs_product = {1};
    EXPECT_FALSE(
        CheckProduct(CompareProduct(View(c, 1, 1), View(r, 1, 1), View(abs_product, 1, 1), 8), 8,
                     kFloat)
            .ok());
  }
}

TEST(CompareProduct, UnknownBoundDoesNotPass) {
  const std::vector<float> c = {1, 2};
  const std::vector<double> r = {1.5, 2};
  const std::vector<double> abs_product = {kNaN, 2};
  const ProductError error =
      CompareProduct(View(c, 1, 2), View(r, 1, 2), View(abs_product, 1, 2), 8);
  EXPECT_EQ(error.max_error_over_bound, kInfinity);
  EXPECT_EQ(error.worst_col, 0);
}

TEST(CompareProduct, PaddingIsNotRead) {
  const std::vector<float> c = {1, NAN, 2, NAN};
  const std::vector<double> r = {1, 7, 7, 2, 7, 7};
  const ProductError error =
      CompareProduct(View(c, 2, 1, 2), View(r, 2, 1, 3), View(r, 2, 1, 3), 1);
  EXPECT_EQ(error.relative_error, 0);
  EXPECT_EQ(error.non_finite, 0);
}

TEST(CompareProduct, EmptyProductPasses) {
  const ProductError error =
      CompareProduct<float>({nullptr, 0, 5, 5}, {nullptr, 0, 5, 5}, {nullptr, 0, 5, 5}, 3);
  EXPECT_EQ(error.worst_row, -1);
  EXPECT_TRUE(CheckProduct(error, 3, kFloat).ok());
}

TEST(Tolerances, FollowFromKExtentAndRoundoff) {
  for (const int64_t k_extent : {0, 1, 16})
    EXPECT_EQ(EntryTolerance(k_extent, kFloat), 1) << k_extent;
  EXPECT_EQ(EntryTolerance(32, kFloat), 0.5);
  EXPECT_EQ(EntryTolerance(1600, kFloat), 0.01);
  EXPECT_EQ(NormTolerance(0, kFloat), 2 * kU);
  EXPECT_EQ(NormTolerance(4096, kFloat), 130 * kU);
  // Tensor cores: a drift, and the rounding of C.
  const ProductAccuracy bf16 = AccuracyOf<Bf16>();
  EXPECT_DOUBLE_EQ(EntryTolerance(1600, bf16), 0.01 + 1.0 / 30);
  EXPECT_DOUBLE_EQ(NormTolerance(4096, bf16), (130 + 1024) * kU + std::ldexp(1.0, -8));
}

TEST(CheckProduct, EachFieldHasItsTolerance) {
  const int64_t k_extent = 64;
  for (const ProductAccuracy& accuracy : {AccuracyOf<float>(), AccuracyOf<double>()}) {
    const double u = accuracy.unit;
    const double allowed = u == kU ? 1 : 2;
    for (double ProductError::*field :
         {&ProductError::norm_error, &ProductError::max_error_over_bound,
          &ProductError::max_residual_over_tolerance}) {
      const double tolerance = allowed * (field == &ProductError::norm_error             ? 18 * u
                                          : field == &ProductError::max_error_over_bound ? 0.25
                                                                                         : 1);
      ProductError error;
      error.*field = tolerance;
      EXPECT_TRUE(CheckProduct(error, k_extent, accuracy).ok());
      for (const double bad : {tolerance * 1.0001, kNaN, kInfinity}) {
        error.*field = bad;
        EXPECT_EQ(CheckProduct(error, k_extent, accuracy).code(), absl::StatusCode::kDataLoss)
            << bad;
      }
    }
  }
}

TEST(CheckProduct, SaysWhere) {
  ProductError error;
  error.worst_row = 31;
  error.worst_col = 77;
  error.max_error_over_bound = 1.5;
  const std::string message(CheckProduct(error, 1, kFloat).message());
  for (const char* part : {"31", "77", "1.5"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace stridewise
