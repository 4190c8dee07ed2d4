#include "common/verify/one_pass_median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

double MedianOf(const std::vector<double>& values) {
  OnePassMedian median;
  for (const double value : values) median.Add(value);
  return median.Median();
}

TEST(OnePassMedianTest, FewNumbers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const struct {
    std::vector<double> values;
    double median;
  } cases[] = {
      {{}, 0},        {{0}, 0},    {{1e-300, 0, 5}, 0}, {{3, 1, 2}, 2},         {{4, 1, 3, 2}, 2},
      {{0, 0, 1}, 0}, {{7, 7}, 7}, {{0, 1, 1}, 1},      {{kInfinity, 1, 2}, 2},
  };
  for (const auto& [values, median] : cases) EXPECT_NEAR(MedianOf(values), median, median / 256);
  EXPECT_EQ(MedianOf({kInfinity, kInfinity, 1}), kInfinity);
}

TEST(OnePassMedianTest, ManyNumbersOfAnySize) {
  std::mt19937_64 random(1);
  for (const int count : {1, 2, 1000, 10001}) {
    for (const double spread : {0.1, 1.0, 10.0}) {
      std::vector<double> values(count);
      std::normal_distribution<double> exponent(-20, spread);
      for (double& value : values) value = std::exp(exponent(random));
      const double got = MedianOf(values);
      std::sort(values.begin(), values.end());
      const double want = values[(count - 1) / 2];
      EXPECT_NEAR(got, want, want / 256);
    }
  }
}

}  // namespace
}  // namespace stridewise
