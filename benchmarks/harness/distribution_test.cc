#include "benchmarks/harness/distribution.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

using Texts = std::vector<std::string>;

// 101 ratios, so that a percentile is one of them: 0.50, 0.51 ... 1.50, the largest first.
std::vector<double> Ratios() {
  std::vector<double> ratios;
  for (int i = 100; i >= 0; --i) ratios.push_back((50 + i) / 100.0);
  return ratios;
}

TEST(DistributeTest, CountsFractionsFromTheLowestOfSpeeds) {
  const Distribution d = Distribute(Ratios(), Better::kHigher);
  EXPECT_EQ(d.count, 101);
  EXPECT_DOUBLE_EQ(d.worst, 0.50);
  EXPECT_DOUBLE_EQ(d.p1, 0.51);
  EXPECT_DOUBLE_EQ(d.p5, 0.55);
  EXPECT_DOUBLE_EQ(d.p25, 0.75);
  EXPECT_DOUBLE_EQ(d.median, 1.00);
  EXPECT_DOUBLE_EQ(d.worse_than_1, 50.0 / 101);
}

TEST(DistributeTest, CountsFractionsFromTheHighestOfTimes) {
  const Distribution d = Distribute(Ratios(), Better::kLower);
  EXPECT_EQ(d.count, 101);
  EXPECT_DOUBLE_EQ(d.worst, 1.50);
  EXPECT_DOUBLE_EQ(d.p1, 1.49);
  EXPECT_DOUBLE_EQ(d.p5, 1.45);
  EXPECT_DOUBLE_EQ(d.p25, 1.25);
  EXPECT_DOUBLE_EQ(d.median, 1.00);
  EXPECT_DOUBLE_EQ(d.worse_than_1, 50.0 / 101);
}

TEST(DistributeTest, InterpolatesAndMultiplies) {
  const Distribution d = Distribute({4, 1, 0.25, 2}, Better::kHigher);
  EXPECT_DOUBLE_EQ(d.geomean, std::pow(2, 0.25));  // The fourth root of 2.
  EXPECT_DOUBLE_EQ(d.median, 1.5);
  EXPECT_DOUBLE_EQ(d.p25, 0.25 + 0.75 * 0.75);
  EXPECT_DOUBLE_EQ(d.p5, 0.25 + 0.15 * 0.75);
  EXPECT_DOUBLE_EQ(d.p1, 0.25 + 0.03 * 0.75);
  EXPECT_DOUBLE_EQ(d.worse_than_1, 0.25);  // A ratio of 1 is not worse.
  EXPECT_DOUBLE_EQ(Distribute({4, 1, 0.25, 2}, Better::kLower).p25, 4 - 0.75 * 2);
  EXPECT_DOUBLE_EQ(Distribute({4, 1, 0.25, 2}, Better::kLower).geomean, d.geomean);
}

TEST(DistributeTest, OfOneIsThatOne) {
  for (const Better better : {Better::kHigher, Better::kLower}) {
    EXPECT_EQ(DistributionTexts(Distribute({0.5}, better)),
              (Texts{"1", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000", "0.5000",
                     better == Better::kHigher ? "1.0000" : "0.0000"}));
  }
}

TEST(DistributeTest, OfNoneIsUnknown) {
  EXPECT_EQ(DistributionTexts(Distribute({}, Better::kHigher)),
            (Texts{"0", "", "", "", "", "", "", ""}));
  EXPECT_EQ(DistributionNames().size(), 8u);
}

}  // namespace
}  // namespace stridewise
