#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/distributed/block_cyclic.h"
#include "gtest/gtest.h"
#include "matmul/distributed/summa_panels.h"

namespace stridewise {
namespace {

TEST(SummaStepsTest, AStepHasBlocksOfTheSameOwners) {
  for (const auto& [rows, cols] : {std::pair(1, 1), {1, 2}, {2, 2}, {2, 3}, {4, 2}}) {
    const BlockCyclicLayout a = *BlockCyclicLayout::Create(8, 1000, 8, 16, {rows, cols});
    const BlockCyclicLayout b = *BlockCyclicLayout::Create(1000, 8, 16, 8, {rows, cols});
    for (const int64_t step_k : {1, 64, 100, 5000}) {
      std::vector<int64_t> seen;
      const int64_t first_owners = step_k % std::lcm(rows, cols);
      const auto steps = SummaSteps(a.cols, b.rows, step_k, first_owners);
      EXPECT_EQ(steps[0][0], 16 * first_owners);
      EXPECT_EQ(steps[0].size(), 1);
      size_t most = 1;
      for (const auto& blocks : steps) {
        EXPECT_LE(blocks.size(), std::max<size_t>(step_k / 16, 1));
        EXPECT_LE(blocks.size(), most);
        most *= 2;
        for (const int64_t first : blocks) {
          EXPECT_EQ(a.cols.Owner(first), a.cols.Owner(blocks[0]));
          EXPECT_EQ(b.rows.Owner(first), b.rows.Owner(blocks[0]));
          seen.push_back(first);
        }
      }
      std::sort(seen.begin(), seen.end());
      ASSERT_EQ(seen.size(), 63);
      for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], 16 * static_cast<int64_t>(i));
    }
  }
}

}  // namespace
}  // namespace stridewise
