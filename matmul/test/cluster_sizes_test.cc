#include "matmul/cluster_sizes.h"

#include <cstdint>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace stridewise
