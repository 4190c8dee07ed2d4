#include "common/verify/freivalds.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/verify/product_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const ProductAccuracy kFloat = AccuracyOf<float>();

template <typename T>
ConstMatrix<T> View(const std::vector<T>& data, int64_t rows, int64_t cols) {
  return {data.data(), rows, cols, cols};
}

TEST(ResidualTolerance, IsAWalkUpToTheProvenBound) {
  EXPECT_EQ(ResidualTolerance(4096, 1024), 0.5);
  EXPECT_EQ(ResidualTolerance(3, 4), 3);
}

TEST(CheckProductFast, EmptyShapes) {
  const std::vector<float> zeros(6, 0.0f);
  const auto check = [](const ConstMatrix<float>& a, const ConstMatrix<float>& b,
                        const ConstMatrix<float>& c) {
    const ProductError error = CheckProductFast(a, b, c, 1);
    EXPECT_FALSE(error.exhaustive);
    return CheckProduct(error, a.cols, kFloat).ok();
  };
  EXPECT_TRUE(check({nullptr, 0, 3, 3}, View(zeros, 3, 2), {nullptr, 0, 2, 2}));
  EXPECT_TRUE(check(View(zeros, 2, 3), {nullptr, 3, 0, 1}, {nullptr, 2, 0, 1}));
  const ConstMatrix<float> a{nullptr, 2, 0, 1};
  const ConstMatrix<float> b{nullptr, 0, 3, 3};
  EXPECT_TRUE(check(a, b, View(zeros, 2, 3)));
  std::vector<float> wrong = zeros;
  wrong[3] = wrong[5] = 1;  // Two errors that half of all random signs cancel.
  EXPECT_FALSE(check(a, b, View(wrong, 2, 3)));
}

TEST(FreivaldsCheck, ZeroRowMustStayZeroThoughSignsCancel) {
  const std::vector<float> a = {0, 1};
  const std::vector<float> b = {1, 1};
  const std::vector<float> c = {5, 5, 1, 1};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ProductError error = FreivaldsCheck(View(a, 2, 1), View(b, 1, 2), View(c, 2, 2), seed, 1);
    EXPECT_EQ(error.max_residual_over_tolerance, kInfinity);
    EXPECT_EQ(error.worst_residual_row, 0);
  }
}

TEST(FreivaldsCheck, EstimatesTheRelativeError) {
  // C = 1 * b with every entry off by one part in a thousand, up or down.
  constexpr int kCols = 10000;
  const std::vector<float> a(100, 1.0f);
  const std::vector<float> b(kCols, 1.0f);
  std::vector<float> c(size_t{100} * kCols);
  for (size_t i = 0; i < c.size(); ++i) c[i] = i % 3 == 0 ? 1.001f : 0.999f;
  const ProductError error =
      FreivaldsCheck(View(a, 100, 1), View(b, 1, kCols), View(c, 100, kCols), 1, 4);
  EXPECT_NEAR(error.relative_error, 1e-3, 3e-4);
}

TEST(SampledEntries, SeesCornersAndTileEdges) {
  const std::vector<double> a(200, 1.0);
  const std::vector<double> b(300, 1.0);
  const std::vector<double> right(size_t{200} * 300, 1.0);
  EXPECT_EQ(SampledEntries(View(a, 200, 1), View(b, 1, 300), View(right, 200, 300), 1)
                .max_error_over_bound,
            0);
  for (const int row : {0, 31, 32, 33, 63, 64, 127, 128, 199}) {
    for (const int col : {0, 31, 32, 33, 63, 64, 127, 128, 299}) {
      std::vector<double> c = right;
      c[row * 300 + col] += 1e-15;
      const ProductError error =
          SampledEntries(View(a, 200, 1), View(b, 1, 300), View(c, 200, 300), 1);
      EXPECT_GT(error.max_error_over_bound, 5);
      EXPECT_EQ(error.worst_row, row);
      EXPECT_EQ(error.worst_col, col);
    }
  }
}

// An error in one place is lost in the norm of all entries, but not in its row.
TEST(FreivaldsCheck, OneWrongEntryStandsOutOfItsRow) {
  const Owned<float> a = Random<float>(200, 257, 0, 1);
  const Owned<float> b = Random<float>(257, 300, 0, 2);
  Owned<float> c = Product<float>(a, b, 257, 0, true, MultiplyAdd);
  const ProductError right = FreivaldsCheck(a.view(), b.view(), c.view(), 1, 1);
  EXPECT_LT(right.max_residual_over_tolerance, 0.5);
  c(150, 200) += 2e-3f;  // Entries have a standard deviation of 5.3.
  const ProductError wrong = FreivaldsCheck(a.view(), b.view(), c.view(), 1, 1);
  EXPECT_GT(wrong.max_residual_over_tolerance, 1);
  EXPECT_EQ(wrong.worst_residual_row, 150);
  EXPECT_LT(wrong.norm_error, NormTolerance(257, kFloat));
}

// Operands that are stored transposed: the same C is right, wrong where an entry is off, and wrong
// where an operand that is not transposed is read as if it were.
TEST(CheckProductFast, TransposedOperands) {
  constexpr int64_t kExtent = 150;
  const Owned<float> a = Random<float>(kExtent, kExtent, 1, 1);
  const Owned<float> b = Random<float>(kExtent, kExtent, 2, 2);
  const auto transposed = [](const Owned<float>& matrix) {
    Owned<float> result(matrix.cols(), matrix.rows(), 3);
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      for (int64_t j = 0; j < matrix.cols(); ++j) result(j, i) = matrix(i, j);
    }
    return result;
  };
  const Owned<float> of_a = transposed(a);
  const Owned<float> of_b = transposed(b);
  Owned<float> c = Product<float>(a, b, kExtent, 0, true, MultiplyAdd);
  const auto is_right = [&](bool a_transposed, bool b_transposed, const TransposedOperands& said) {
    const ProductError error =
        CheckProductFast(a_transposed ? of_a.view() : a.view(),
                         b_transposed ? of_b.view() : b.view(), c.view(), 7, kFloat, said);
    return CheckProduct(error, kExtent, kFloat).ok();
  };
  for (const bool is_a : {false, true}) {
    for (const bool is_b : {false, true}) {
      EXPECT_TRUE(is_right(is_a, is_b, {is_a, is_b}));
      EXPECT_FALSE(is_right(is_a, is_b, {!is_a, is_b}));
      EXPECT_FALSE(is_right(is_a, is_b, {is_a, !is_b}));
      c(127, 33) += 1e-2f;
      EXPECT_FALSE(is_right(is_a, is_b, {is_a, is_b}));
      c(127, 33) -= 1e-2f;
    }
  }
}

// Shapes that differ, so that extents are not mistaken for each other, and so large that several
// threads read them.
TEST(CheckProductFast, LargeTransposedOperands) {
  constexpr int64_t kM = 1100, kN = 40, kK = 2100;
  const std::vector<float> a(size_t{kK} * kM, 0.5f);
  const std::vector<float> b(size_t{kN} * kK, 0.25f);
  std::vector<float> c(size_t{kM} * kN, 0.125f * kK);
  const auto check = [&] {
    return CheckProduct(CheckProductFast(View(a, kK, kM), View(b, kN, kK), View(c, kM, kN), 7,
                                         kFloat, {true, true}),
                        kK, kFloat);
  };
  EXPECT_TRUE(check().ok()) << check();
  c[1000 * kN + 39] += 1;
  EXPECT_FALSE(check().ok());
}

// FP64 data leaves a check in FP64 no digits to spare: long sums over N and short ones over K are
// the hard case.
TEST(CheckProductFast, DoublesAreJudgedByTheirOwnRoundoff) {
  const ProductAccuracy accuracy = AccuracyOf<double>();
  const int64_t shapes[][3] = {
      {1, 1, 1}, {2, 20000, 1}, {2, 20000, 3}, {20, 3, 2000}, {50, 60, 70}};
  for (const auto& [m, n, k] : shapes) {
    const Owned<double> a = Random<double>(m, k, 1, 1);
    const Owned<double> b = Random<double>(k, n, 2, 2);
    const auto step = [](double sum, double x, double y) { return sum + x * y; };
    Owned<double> c = Product<double>(a, b, k, 3, true, step);
    const absl::Status right =
        CheckProduct(CheckProductFast(a.view(), b.view(), c.view(), 7), k, accuracy);
    EXPECT_TRUE(right.ok()) << m << "x" << n << "x" << k << ": " << right;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) c(i, j) *= 1 + (2e-16 * 32) * static_cast<double>(k);
    }
    EXPECT_FALSE(CheckProduct(CheckProductFast(a.view(), b.view(), c.view(), 7), k, accuracy).ok())
        << m << "x" << n << "x" << k;
  }
}

// Sums of exact products, rounded to BF16 once: right, and wrong where an entry is off by two
// units.
TEST(CheckProductFast, NarrowTypesMayRoundOnce) {
  constexpr int64_t kM = 40, kN = 50, kK = 300;
  const Owned<Bf16> a = Random<Bf16>(kM, kK, 1, 1);
  const Owned<Bf16> b = Random<Bf16>(kK, kN, 2, 2);
  std::vector<Bf16> c(kM * kN);
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k) sum += double{a(i, k)} * double{b(k, j)};
      c[i * kN + j] = Bf16(static_cast<float>(sum));
    }
  }
  const auto check = [&] {
    return CheckProduct(CheckProductFast(a.view(), b.view(), View(c, kM, kN), 7), kK,
                        AccuracyOf<Bf16>());
  };
  EXPECT_TRUE(check().ok()) << check();
  c[31 * kN + 33].bits += 2;
  EXPECT_FALSE(check().ok());
}

}  // namespace
}  // namespace stridewise
