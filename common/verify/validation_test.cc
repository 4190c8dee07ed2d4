#include "common/verify/validation.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/base/element_type.h"
#include "common/base/host_threads.h"
#include "common/base/matrix.h"
#include "common/verify/product_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kU = UnitRoundoff(ElementType::kFloat);
const ProductAccuracy kFloat = AccuracyOf<float>();

// Compares a 2x2 C with R = [[3, 4], [12, 0]] and |A||B| = [[4, 4], [16, 0]].
ProductError CompareTwoByTwo(const std::vector<float>& c, int64_t k_extent = 8) {
  const std::vector<double> r = {3, 4, 12, 0};
  const std::vector<double> abs_product = {4, 4, 16, 0};
  return CompareProduct(ViewOf(c, 2, 2), ViewOf(r, 2, 2), ViewOf(abs_product, 2, 2), k_extent);
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
      CompareProduct<Bf16>(ViewOf(c, 1, 3), ViewOf(r, 1, 3), ViewOf(abs_product, 1, 3), 8);
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
      CompareProduct(ViewOf(c, 1, 1), ViewOf(r, 1, 1), ViewOf(abs_product, 1, 1), 16);
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
        CompareProduct(ViewOf(c, 2, 2), ViewOf(zeros, 2, 2), ViewOf(zeros, 2, 2), 0);
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
        CheckProduct(CompareProduct(ViewOf(c, 1, 1), ViewOf(r, 1, 1), ViewOf(abs_product, 1, 1), 8),
                     8, kFloat)
            .ok());
  }
}

TEST(CompareProduct, UnknownBoundDoesNotPass) {
  const std::vector<float> c = {1, 2};
  const std::vector<double> r = {1.5, 2};
  const std::vector<double> abs_product = {kNaN, 2};
  const ProductError error =
      CompareProduct(ViewOf(c, 1, 2), ViewOf(r, 1, 2), ViewOf(abs_product, 1, 2), 8);
  EXPECT_EQ(error.max_error_over_bound, kInfinity);
  EXPECT_EQ(error.worst_col, 0);
}

TEST(CompareProduct, PaddingIsNotRead) {
  const std::vector<float> c = {1, NAN, 2, NAN};
  const std::vector<double> r = {1, 7, 7, 2, 7, 7};
  const ProductError error =
      CompareProduct(ViewOf(c, 2, 1, 2), ViewOf(r, 2, 1, 3), ViewOf(r, 2, 1, 3), 1);
  EXPECT_EQ(error.relative_error, 0);
  EXPECT_EQ(error.non_finite, 0);
}

// Rows that several threads compare give what one gives: the worst entry, the first that is not
// finite, and the median.
TEST(CompareProduct, ThreadsFindWhatOneFinds) {
  constexpr int64_t kRows = 1500;
  constexpr int64_t kCols = 700;
  constexpr int64_t kExtent = 64;
  const std::vector<double> abs_product(kRows * kCols, 16);
  const std::vector<double> r(kRows * kCols, 2);
  std::vector<float> exact(r.begin(), r.end());
  for (size_t i = 0; i < exact.size(); i += 2) exact[i] += 0x1p-22F;
  const auto with = [&](const std::vector<std::pair<int64_t, float>>& changes) {
    std::vector<float> c = exact;
    for (const auto& [row, value] : changes) c[row * kCols + 5] = value;
    return c;
  };
  const struct {
    std::vector<float> c;
    int64_t worst_row, non_finite;
  } cases[] = {
      {exact, 0, 0},
      {with({{3, 2.5F}, {1400, 2.75F}, {1499, 2.75F}}), 1400, 0},
      {with({{7, 9.0F}, {1200, NAN}, {1300, INFINITY}}), 1200, 2},
  };
  const int threads = HostThreads();
  for (const auto& c : cases) {
    ProductError errors[2];
    for (const int count : {1, 7}) {
      SetHostThreads(count);
      errors[count > 1] = CompareProduct(ViewOf(c.c, kRows, kCols), ViewOf(r, kRows, kCols),
                                         ViewOf(abs_product, kRows, kCols), kExtent);
    }
    for (const ProductError& error : errors) {
      EXPECT_EQ(error.worst_row, c.worst_row);
      EXPECT_EQ(error.worst_col, c.worst_row == 0 ? 0 : 5);
      EXPECT_EQ(error.non_finite, c.non_finite);
    }
    EXPECT_EQ(errors[0].max_error_over_bound, errors[1].max_error_over_bound);
    EXPECT_EQ(errors[0].max_error, errors[1].max_error);
    EXPECT_EQ(errors[0].median_error, errors[1].median_error);
    if (c.non_finite > 0) continue;
    EXPECT_NEAR(errors[0].relative_error / errors[1].relative_error, 1, 1e-12);
    EXPECT_NEAR(errors[0].norm_error / errors[1].norm_error, 1, 1e-12);
  }
  SetHostThreads(threads);
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
