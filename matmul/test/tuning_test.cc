// Which thresholds a device gets, and how they are written down.

#include "matmul/tuning.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

std::vector<MatMulTuning> Of(const std::vector<int64_t>& compute_capabilities) {
  std::vector<MatMulTuning> tunings;
  for (const int64_t compute_capability : compute_capabilities) {
    tunings.push_back(TuningFor(90));
    tunings.back().compute_capability = compute_capability;
  }
  return tunings;
}

TEST(TuningFor, ADeviceHasItsOwn) {
  for (const MatMulTuning& tuning : MatMulTunings()) {
    EXPECT_EQ(&TuningFor(static_cast<int>(tuning.compute_capability)), &tuning);
  }
  EXPECT_EQ(TuningFor(90).compute_capability, 90);
}

TEST(NearestTuning, IsTheNearestNumbersAndOfTwoTheOlders) {
  const std::vector<MatMulTuning> tunings = Of({80, 90, 100});
  const struct {
    int compute_capability;
    int64_t want;
  } cases[] = {{0, 80},  {75, 80}, {80, 80},   {84, 80},   {85, 80},  {86, 90},
               {90, 90}, {95, 90}, {100, 100}, {103, 100}, {120, 100}};
  for (const auto& c : cases) {
    EXPECT_EQ(NearestTuning(tunings, c.compute_capability).compute_capability, c.want)
        << c.compute_capability;
  }
  EXPECT_EQ(NearestTuning(Of({90}), 0).compute_capability, 90);
}

TEST(MatMulTunings, AreAscendingAndWithinTheRanges) {
  const auto older = [](const MatMulTuning& a, const MatMulTuning& b) {
    return a.compute_capability < b.compute_capability;
  };
  EXPECT_TRUE(std::is_sorted(MatMulTunings().begin(), MatMulTunings().end(), older));
  for (const MatMulTuning& tuning : MatMulTunings()) {
    for (const MatMulThreshold& threshold : MatMulThresholds()) {
      SCOPED_TRACE(threshold.name);
      EXPECT_GE(tuning.*threshold.value, threshold.least);
      EXPECT_LE(tuning.*threshold.value, threshold.most);
    }
  }
}

// So the names in its comments are those of the numbers behind them.
TEST(TuningLine, IsWhatTheFileHolds) {
  std::ifstream file("matmul/tuning.inc");
  std::stringstream text;
  text << file.rdbuf();
  for (const MatMulTuning& tuning : MatMulTunings()) {
    EXPECT_NE(text.str().find("\n" + TuningLine(tuning)), std::string::npos) << TuningLine(tuning);
  }
}

TEST(MatMulThresholds, AreNamedByTheDispatchTable) {
  for (const MatMulThreshold& threshold : MatMulThresholds()) {
    const auto names = [&](const MatMulDispatch& row) {
      return std::string(row.when).find(threshold.name) != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(MatMulDispatchTable().begin(), MatMulDispatchTable().end(), names))
        << threshold.name;
  }
}

}  // namespace
}  // namespace stridewise
