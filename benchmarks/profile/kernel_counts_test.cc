#include "benchmarks/profile/kernel_counts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/profile/ncu_metrics.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Counts that are all different: `first`, first + 1 and so on.
KernelCounts Counts(uint64_t first) {
  KernelCounts counts;
  for (int i = 0; i < kNumCounters; ++i) counts[i] = first + i;
  return counts;
}

CountComparison Same(const std::string& implementation) {
  return {implementation, Counts(100), Counts(100)};
}

TEST(KernelCountsTest, EachCounterHasItsOwnPlace) {
  // One access of each kind, distinguishable by how many there were.
  executor::Profile profile;
  const uint64_t address[executor::kWarpLanes] = {};
  const executor::EventKind kinds[] = {
      executor::EventKind::kGlobalLoad, executor::EventKind::kGlobalStore,
      executor::EventKind::kSharedLoad, executor::EventKind::kSharedStore};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i <= k; ++i) {
      profile.Count(executor::MakeSite(16, kinds[k], 2), /*lanes=*/1, address);
    }
  }
  const KernelCounts want = {1, 2, 1, 2, 3, 4, 3, 4};
  EXPECT_EQ(PredictedCounts(profile), want);

  // As ncu names them; two launches of one configuration are added.
  NcuLaunch launch;
  launch.metrics = {{kNcuGlobalLoadRequests, 1},   {kNcuGlobalStoreRequests, 2},
                    {kNcuGlobalLoadSectors, 3},    {kNcuGlobalStoreSectors, 4},
                    {kNcuSharedLoadRequests, 5},   {kNcuSharedStoreRequests, 6},
                    {kNcuSharedLoadWavefronts, 7}, {kNcuSharedStoreWavefronts, 8}};
  const KernelCounts twice = {2, 4, 6, 8, 10, 12, 14, 16};
  EXPECT_EQ(MeasuredCounts({launch, launch}), twice);
  launch.metrics.erase(kNcuSharedLoadRequests);
  EXPECT_FALSE(MeasuredCounts({launch})[4].has_value());

  const std::vector<std::string> asked = NcuMetrics();
  for (const auto& [metric, value] : launch.metrics) {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), metric), 1) << metric;
  }
}

TEST(CountComparisonTest, OnlyJudgedCountersMustAgree) {
  for (int i = 0; i < kNumCounters; ++i) {
    const auto counter = static_cast<Counter>(i);
    const bool request_of_shared =
        counter == Counter::kSharedLoadRequests || counter == Counter::kSharedStoreRequests;
    CountComparison comparison = Same("tile_square");
    EXPECT_EQ(comparison.Of(counter), Agreement::kSame);
    EXPECT_TRUE(comparison.ToStatus().ok());
    ++*comparison.measured[i];
    EXPECT_EQ(comparison.Of(counter),
              request_of_shared ? Agreement::kExplained : Agreement::kDifferent);
    const absl::Status status = comparison.ToStatus();
    EXPECT_EQ(absl::IsDataLoss(status), !request_of_shared) << status;
    if (!status.ok()) {
      EXPECT_TRUE(absl::StrContains(status.message(), CounterName(counter))) << status;
    }
    comparison.measured[i].reset();
    EXPECT_EQ(comparison.Of(counter), Agreement::kUnknown);
    EXPECT_TRUE(comparison.ToStatus().ok());
  }
}

TEST(CountComparisonTest, AKnownDifferenceExcusesItsCounterOnly) {
  CountComparison comparison = Same("tiled");
  EXPECT_FALSE(comparison.Explanation().empty());
  --*comparison.measured[static_cast<int>(Counter::kSharedLoadWavefronts)];
  EXPECT_EQ(comparison.Of(Counter::kSharedLoadWavefronts), Agreement::kExplained);
  EXPECT_TRUE(comparison.ToStatus().ok());
  --*comparison.measured[static_cast<int>(Counter::kGlobalLoadSectors)];
  EXPECT_TRUE(absl::IsDataLoss(comparison.ToStatus()));
  EXPECT_TRUE(Same("naive").Explanation().empty());
}

}  // namespace
}  // namespace stridewise
