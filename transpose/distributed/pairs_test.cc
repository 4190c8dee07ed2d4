#include "transpose/distributed/pairs.h"

#include <vector>

#include "common/distributed/block_cyclic.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(PairsTest, GroupsRunsThatTwoSelectionsShare) {
  // Blocks of 4 of every second part here, one behind the other there; the last is cut.
  const Selection spread = {{{0, 4}, {8, 4}, {16, 4}, {24, 2}}, 14};
  const Selection dense = {{{5, 14}}, 14};
  for (const bool exchanged : {false, true}) {
    const auto groups = exchanged ? GroupSharedRuns(dense, spread) : GroupSharedRuns(spread, dense);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_EQ(groups[0].count, 4);
    EXPECT_EQ(groups[0].runs, 3);
    EXPECT_EQ(groups[0].first, exchanged ? 5 : 0);
    EXPECT_EQ(groups[0].stride, exchanged ? 4 : 8);
    EXPECT_EQ(groups[0].other_first, exchanged ? 0 : 5);
    EXPECT_EQ(groups[0].other_stride, exchanged ? 8 : 4);
    EXPECT_EQ(groups[1].count, 2);
    EXPECT_EQ(groups[1].first, exchanged ? 17 : 24);
    EXPECT_EQ(groups[1].other_first, exchanged ? 24 : 17);
  }
  EXPECT_TRUE(GroupSharedRuns({}, {}).empty());
}

TEST(PairsTest, GroupsEqualRuns) {
  const auto in = *BlockCyclicLayout::Create(100, 1, 4, 1, {3, 1});
  const auto out = *BlockCyclicLayout::Create(1, 100, 1, 4, {1, 3});
  // Part 0 has nine blocks of 4, which part 0 of the others has, too: one run.
  const Selection all = CommonIndices(in.rows, 0, out.cols, 0);
  ASSERT_EQ(GroupRuns(all).size(), 1u);
  EXPECT_EQ(all.count, 36);
  // Halves of blocks: runs of two, four apart.
  const BlockCyclicDimension halves = {100, 2, 2};
  const Selection some = CommonIndices(in.rows, 0, halves, 1);
  const std::vector<RunGroup> groups = GroupRuns(some);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].first, 2);
  EXPECT_EQ(groups[0].count, 2);
  EXPECT_EQ(groups[0].stride, 4);
  EXPECT_EQ(groups[0].runs, 9);
  // Cut at both ends.
  const std::vector<RunGroup> cut = GroupRuns(Slice(some, 1, 6));
  ASSERT_EQ(cut.size(), 3u);
  EXPECT_EQ(cut[0].first, 3);
  EXPECT_EQ(cut[1].runs, 2);
  EXPECT_EQ(cut[1].packed, 1);
  EXPECT_EQ(cut[2].count, 1);
}

}  // namespace
}  // namespace stridewise
