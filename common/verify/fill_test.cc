#include "common/verify/fill.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(Fill, ValuesAreUniform) {
  constexpr int64_t kCount = 1 << 20;
  double sum = 0;
  double squares = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double value = UniformAt<double>(7, i);
    ASSERT_GE(value, -1);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
  }
  // Mean 0 and variance 1/3, each within 6 standard errors.
  EXPECT_NEAR(sum / kCount, 0, 6 / std::sqrt(3.0 * kCount));
  EXPECT_NEAR(squares / kCount, 1 / 3.0, 6 * std::sqrt(4 / 45.0 / kCount));
}

TEST(Fill, FloatAndDoubleAreTheSameProblem) {
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(static_cast<double>(UniformAt<float>(3, i)), UniformAt<double>(3, i));
  }
}

TEST(Fill, SeedsAndPlacesDiffer) {
  EXPECT_NE(UniformAt<float>(1, 0), UniformAt<float>(2, 0));
  EXPECT_NE(UniformAt<float>(1, 0), UniformAt<float>(1, 1));
  EXPECT_NE(UniformAt<float>(1, 0), UniformAt<float>(1, int64_t{1} << 33));
}

TEST(Fill, LeadingDimensionChangesNoValueAndPaddingIsLeftAlone) {
  std::vector<float> dense(size_t{3} * 5);
  std::vector<float> padded(size_t{3} * 8, NAN);
  FillUniform(Matrix<float>{dense.data(), 3, 5, 5}, 9);
  FillUniform(Matrix<float>{padded.data(), 3, 5, 8}, 9);
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 8; ++c) {
      if (c < 5) {
        EXPECT_EQ(padded[r * 8 + c], dense[r * 5 + c]);
      } else {
        EXPECT_TRUE(std::isnan(padded[r * 8 + c]));
      }
    }
  }
}

}  // namespace
}  // namespace stridewise
