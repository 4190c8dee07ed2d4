#include "benchmarks/distributed/parts.h"

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/available_memory.h"
#include "common/distributed/block_cyclic.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Where nobody looked, all of this would be granted, and the program be killed when it is filled.
TEST(PartsTest, RefusesMoreThanIsAvailable) {
  const int64_t elements = AvailableHostBytes() / static_cast<int64_t>(sizeof(float));
  constexpr int64_t kRows = 1 << 20;
  const BlockCyclicLayout layout =
      *BlockCyclicLayout::Create(2 * kRows, elements / kRows / 8 * 9 + 1, kRows, 8, {2, 1});
  const absl::Status status = AllocatePart<float>(layout, 1).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(status.message().find("rank 1: "), 0u) << status;
}

TEST(PartsTest, ElementsAreThoseOfTheirGlobalIndices) {
  const BlockCyclicLayout layout = *BlockCyclicLayout::Create(13, 17, 4, 3, {2, 3});
  for (int rank = 0; rank < layout.grid.size(); ++rank) {
    const auto part = MakePart<float>(layout, rank, 5);
    ASSERT_TRUE(part.ok()) << part.status();
    ASSERT_EQ(part->view.rows, layout.LocalRows(rank));
    ASSERT_EQ(part->view.cols, layout.LocalCols(rank));
    for (int64_t i = 0; i < part->view.rows; ++i) {
      for (int64_t j = 0; j < part->view.cols; ++j) {
        EXPECT_EQ(part->view(i, j),
                  UniformAt<float>(5, layout.GlobalRow(rank, i) * 17 + layout.GlobalCol(rank, j)));
      }
    }
  }
}

}  // namespace
}  // namespace stridewise
