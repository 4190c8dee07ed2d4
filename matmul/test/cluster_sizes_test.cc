#include "matmul/cluster_sizes.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "matmul/split_cost.h"

namespace stridewise {
namespace {

TEST(ClustersAtOnceTest, CountsThoseThatFit) {
  const int64_t multiprocessors = kMultiprocessorsOfH200;
  EXPECT_EQ(ClustersAtOnce(1, 1, multiprocessors), multiprocessors);
  EXPECT_EQ(ClustersAtOnce(1, 2, multiprocessors), 2 * multiprocessors);
  EXPECT_EQ(ClustersAtOnce(4, 1, multiprocessors), 30);  // And not 132 / 4.
  EXPECT_EQ(ClustersAtOnce(4, 2, multiprocessors), 62);
  EXPECT_EQ(ClustersAtOnce(3, 8, multiprocessors), 4 * 79);
  EXPECT_EQ(ClustersAtOnce(5, 1, multiprocessors), 17);  // Of six: the table has no five.
  EXPECT_EQ(ClustersAtOnce(16, 1, 8), 1);                // Never none.
  for (const ClusterSize& size : kClusterSizes) {
    // A quarter of the device, and a part that has no room for the largest clusters.
    EXPECT_EQ(ClustersAtOnce(size, 1, multiprocessors / 4), size.clusters[0] / 4);
    EXPECT_EQ(ClustersAtOnce(size, 2, 1), size.clusters[1] / kMultiprocessorsOfH200);
    for (const int resident : {1, 2, 3, 4, 8}) {
      EXPECT_LE(ClustersAtOnce(size.blocks, resident, multiprocessors) * size.blocks,
                resident * multiprocessors);
    }
  }
}

// Rounds of an H200 with two blocks on each multiprocessor.
ClusterPlan PlanOf(int64_t tiles, int64_t steps, int compute_capability = 90) {
  return PlanClusters({tiles, steps, /*resident=*/2, /*multiprocessors=*/132, compute_capability,
                       /*split_cost=*/4.5});
}

TEST(PlanClustersTest, DividesAsManyTilesAsThereAre) {
  // There is room for 30 clusters of 8, and for a pair beside each of 24.
  const ClusterPlan pairs = PlanOf(24, 448);
  EXPECT_EQ(pairs.units, 24);
  EXPECT_EQ(pairs.blocks, 8);
  EXPECT_EQ(pairs.tail_blocks, 2);
  EXPECT_EQ(pairs.head_steps, 358);  // Of 448: eight tenths.
  // Of few steps a second kernel costs more than it saves.
  EXPECT_EQ(PlanOf(24, 32).tail_blocks, 0);
  // More tiles than clusters of three: units begin and end within tiles.
  const ClusterPlan units = PlanOf(96, 448);
  EXPECT_LT(units.units, 96);
  EXPECT_EQ(units.tail_blocks, 0);
  // Nothing is gained where nearly all have a tile.
  EXPECT_EQ(PlanOf(250, 32).units, 0);
  EXPECT_EQ(PlanOf(0, 32).units, 0);
}

TEST(PlanClustersTest, ClustersOfOtherGpusAreSmall) {
  EXPECT_GT(PlanOf(4, 1000).blocks, 8);
  EXPECT_LE(PlanOf(4, 1000, /*compute_capability=*/100).blocks, 8);
}

TEST(PlanClustersTest, WhatIsPlannedRunsAtOnceAndCoversAllSteps) {
  int with_tails = 0;
  for (const int64_t resident : {1, 2, 4, 8}) {
    for (int64_t tiles = 1; tiles < 132 * resident; ++tiles) {
      for (const int64_t steps : {1, 2, 7, 40, 300, 5000}) {
        const ClusterPlan plan = PlanClusters({tiles, steps, resident, 132, 90, 4.5});
        ASSERT_LE(plan.steps, static_cast<double>(steps));
        if (plan.units == 0) continue;
        ASSERT_LE(plan.units, tiles);
        ASSERT_LE(plan.units * plan.blocks, 132 * resident);
        if (plan.tail_blocks == 0) continue;
        ++with_tails;
        ASSERT_EQ(plan.units, tiles);
        ASSERT_LE(tiles * (plan.blocks + plan.tail_blocks), 132 * resident);
        ASSERT_GE(plan.head_steps, plan.blocks);
        ASSERT_GE(steps - plan.head_steps, plan.tail_blocks);
      }
    }
  }
  EXPECT_GT(with_tails, 100);
}

}  // namespace
}  // namespace stridewise
