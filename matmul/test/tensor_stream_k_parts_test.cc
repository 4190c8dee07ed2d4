// How the steps of all tiles of a product are divided among clusters.

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/device/tensor/stream_k_parts.h"

namespace stridewise {
namespace {

// Steps of a tile, rows and columns of tiles, tiles of the batch, clusters.
constexpr StreamKWork kCases[] = {
    {224, 3, 4, 12, 66}, {224, 6, 2, 12, 132}, {16, 1, 1, 1, 16},
    {1, 2, 33, 66, 66},  {20, 5, 7, 35, 66},   {81, 11, 12, 132, 132},
    {33, 2, 3, 18, 132}, {512, 1, 2, 4, 131},  {1024, 9, 14, 126, 132}};

// Each step is one cluster's, in order, and clusters have as many as each other, or one more.
TEST(StreamKParts, ShareStepsEvenly) {
  for (const StreamKWork& work : kCases) {
    SCOPED_TRACE(testing::Message()
                 << work.tiles << " of " << work.steps << " on " << work.clusters);
    EXPECT_EQ(work.FirstStep(0), 0);
    EXPECT_EQ(work.FirstStep(work.clusters), work.AllSteps());
    for (int cluster = 0; cluster < work.clusters; ++cluster) {
      const int64_t first = work.FirstStep(cluster);
      const int64_t last = work.FirstStep(cluster + 1);
      EXPECT_GE(last - first, work.AllSteps() / work.clusters);
      EXPECT_LE(last - first, work.AllSteps() / work.clusters + 1);
      EXPECT_EQ(work.ClusterOf(first), cluster);
      EXPECT_EQ(work.ClusterOf(last - 1), cluster);
    }
  }
}

// Parts of a tile follow each other, and no two parts have the same number.
TEST(StreamKParts, HaveNumbersOfTheirOwn) {
  for (const StreamKWork& work : kCases) {
    SCOPED_TRACE(testing::Message()
                 << work.tiles << " of " << work.steps << " on " << work.clusters);
    std::set<int> numbers;
    for (int tile = 0; tile < work.tiles; ++tile) {
      const int64_t first_step = int64_t{tile} * work.steps;
      const int first = work.ClusterOf(first_step);
      const int last = work.ClusterOf(first_step + work.steps - 1);
      ASSERT_LE(first, last);
      for (int cluster = first; cluster <= last; ++cluster) {
        EXPECT_EQ(work.PartOf(tile, cluster), work.PartOf(tile, first) + cluster - first);
        EXPECT_TRUE(numbers.insert(work.PartOf(tile, cluster)).second);
      }
    }
    EXPECT_GE(*numbers.begin(), 0);
    EXPECT_LT(*numbers.rbegin(), work.Parts());
  }
}

TEST(StreamKParts, TilesFollowDownColumnsOfEachProduct) {
  const StreamKWork work = {8, 2, 3, 12, 4};
  const StreamKTileAt second(work, 1);
  EXPECT_EQ(second.row, 1);
  EXPECT_EQ(second.col, 0);
  EXPECT_EQ(second.batch, 0);
  const StreamKTileAt last(work, 11);
  EXPECT_EQ(last.row, 1);
  EXPECT_EQ(last.col, 2);
  EXPECT_EQ(last.batch, 1);
}

}  // namespace
}  // namespace stridewise
