#include "common/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Returns 1, 2, ..., n in an order that is not sorted: each value is its own rank.
std::vector<double> Ranks(int n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  std::reverse(values.begin(), values.end());
  if (n > 2) std::swap(values[0], values[n / 2]);
  return values;
}

TEST(Summarize, KnownData) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.samples, 8);
  EXPECT_EQ(summary.min, 2);
  EXPECT_EQ(summary.median, 4.5);
  EXPECT_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.stddev, std::sqrt(32.0 / 7));
  EXPECT_DOUBLE_EQ(summary.p95, 8.3);  // numpy.percentile(values, 95)
}

TEST(Summarize, MedianOfOddAndEvenCounts) {
  for (int n = 1; n <= 9; ++n) {
    EXPECT_EQ(Summarize(Ranks(n)).median, (n + 1) / 2.0) << n;
    EXPECT_EQ(Median(Ranks(n)), (n + 1) / 2.0) << n;
  }
}

TEST(Summarize, ConfidenceIntervalHasTheRanksOfTheTables) {
  const struct {
    int n;
    int low;
    int high;
  } cases[] = {
      {6, 1, 6},
      {7, 1, 7},
      {8, 1, 8},
      {9, 2, 8},
      {10, 2, 9},
      {20, 6, 15},
      {50, 18, 33},
      {100, 40, 61},
      {101, 41, 61},
      {102, 41, 62},
      {138, 57, 82},  // Exact would be 58 and 81: the
                      // approximation errs to the safe side.
      {500, 228, 273},
      {1000, 469, 532},
      {9999, 4902, 5098},
  };
  for (const auto& c : cases) {
    const Summary summary = Summarize(Ranks(c.n));
    EXPECT_EQ(summary.ci_low, c.low) << c.n;
    EXPECT_EQ(summary.ci_high, c.high) << c.n;
  }
}

TEST(Summarize, FewSamplesGiveTheirRangeAndNoWidth) {
  for (int n = 1; n <= 5; ++n) {
    const Summary summary = Summarize(Ranks(n));
    EXPECT_EQ(summary.ci_low, 1) << n;
    EXPECT_EQ(summary.ci_high, n) << n;
    EXPECT_EQ(RelativeHalfWidth(summary), std::numeric_limits<double>::infinity()) << n;
  }
}

TEST(Summarize, OneSample) {
  const Summary summary = Summarize({3.5});
  EXPECT_EQ(summary.samples, 1);
  EXPECT_EQ(summary.min, 3.5);
  EXPECT_EQ(summary.median, 3.5);
  EXPECT_EQ(summary.mean, 3.5);
  EXPECT_EQ(summary.p95, 3.5);
  EXPECT_TRUE(std::isnan(summary.stddev));
}

TEST(Summarize, NoSampleIsUnknownNotZero) {
  const Summary summary = Summarize({});
  EXPECT_EQ(summary.samples, 0);
  for (const double value : {summary.min, summary.median, summary.mean, summary.stddev, summary.p95,
                             summary.ci_low, summary.ci_high}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(RelativeHalfWidth(summary), std::numeric_limits<double>::infinity());
}

TEST(Quantile, InterpolatesLikeType7) {
  const std::vector<double> values = {1, 2, 3, 4};
  EXPECT_EQ(Quantile(values, 0), 1);
  EXPECT_EQ(Quantile(values, 0.25), 1.75);
  EXPECT_EQ(Quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.95), 3.85);
  EXPECT_EQ(Quantile(values, 1), 4);
  EXPECT_TRUE(std::isnan(Quantile({}, 0.5)));
}

TEST(RelativeHalfWidth, IsHalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(RelativeHalfWidth(Summarize(Ranks(10))), (9 - 2) / 2.0 / 5.5);
  EXPECT_EQ(RelativeHalfWidth(Summarize(std::vector<double>(6, 2.5))), 0);
}

TEST(RelativeHalfWidth, MedianOfZeroIsNeverWellKnown) {
  EXPECT_EQ(RelativeHalfWidth(Summarize(std::vector<double>(100, 0.0))),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace stridewise
