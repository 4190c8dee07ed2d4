#include "common/distributed/block_cyclic.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(BlockCyclicTest, KnownOwners) {
  // 11 indices in blocks of 2 over 3 parts: 00 11 22 00 11 2.
  const BlockCyclicDimension dimension = {11, 2, 3};
  const std::vector<int64_t> owners = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2};
  const std::vector<int64_t> locals = {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2};
  for (int64_t i = 0; i < 11; ++i) {
    EXPECT_EQ(dimension.Owner(i), owners[i]) << i;
    EXPECT_EQ(dimension.LocalIndex(i), locals[i]) << i;
  }
  EXPECT_EQ(dimension.LocalExtent(0), 4);
  EXPECT_EQ(dimension.LocalExtent(1), 4);
  EXPECT_EQ(dimension.LocalExtent(2), 3);
}

TEST(BlockCyclicTest, EveryElementIsOwnedExactlyOnce) {
  for (const RankGrid grid : {RankGrid{1, 1}, {1, 4}, {2, 2}, {4, 1}, {2, 3}, {3, 2}}) {
    for (const int64_t rows : {0, 1, 2, 13, 32, 61}) {
      for (const int64_t cols : {0, 1, 7, 31, 64}) {
        for (const int64_t block : {1, 3, 8, 100}) {
          const auto layout = BlockCyclicLayout::Create(rows, cols, block, block + 2, grid);
          ASSERT_TRUE(layout.ok()) << layout.status();
          std::vector<int> times(rows * cols, 0);
          for (int rank = 0; rank < grid.size(); ++rank) {
            for (int64_t i = 0; i < layout->LocalRows(rank); ++i) {
              const int64_t row = layout->GlobalRow(rank, i);
              ASSERT_LT(row, rows);
              ASSERT_EQ(layout->rows.LocalIndex(row), i);
              for (int64_t j = 0; j < layout->LocalCols(rank); ++j) {
                const int64_t col = layout->GlobalCol(rank, j);
                ASSERT_LT(col, cols);
                ASSERT_EQ(layout->cols.LocalIndex(col), j);
                ASSERT_EQ(layout->Owner(row, col), rank);
                ++times[row * cols + col];
              }
            }
          }
          ASSERT_EQ(times, std::vector<int>(rows * cols, 1));
        }
      }
    }
  }
}

TEST(BlockCyclicTest, IndicesHave64Bits) {
  const BlockCyclicDimension dimension = {(int64_t{1} << 40) + 5, 1000, 7};
  int64_t sum = 0;
  for (int64_t part = 0; part < 7; ++part) sum += dimension.LocalExtent(part);
  EXPECT_EQ(sum, dimension.extent);
  const int64_t last = dimension.extent - 1;
  EXPECT_EQ(dimension.GlobalIndex(dimension.Owner(last), dimension.LocalIndex(last)), last);
}

TEST(BlockCyclicTest, RefusesWhatIsNoLayout) {
  const struct {
    int64_t rows, cols, row_block, col_block;
    RankGrid grid;
    const char* names;
  } kCases[] = {
      {-1, 1, 1, 1, {1, 1}, "rows"},
      {1, -1, 1, 1, {1, 1}, "cols"},
      {int64_t{1} << 31, int64_t{1} << 31, 1, 1, {1, 1}, "rows"},
      {0, int64_t{1} << 62, 1, 1, {1, 1}, "cols"},
      {1, 1, 0, 1, {1, 1}, "row block"},
      {1, 1, 1, (int64_t{1} << 31) + 1, {1, 1}, "column block"},
      {1, 1, 1, 1, {0, 1}, "grid rows"},
      {1, 1, 1, 1, {1 << 11, 1 << 10}, "grid columns"},
  };
  for (const auto& c : kCases) {
    const absl::Status status =
        BlockCyclicLayout::Create(c.rows, c.cols, c.row_block, c.col_block, c.grid).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.names;
    EXPECT_EQ(status.message().find(c.names), 0u) << status;
  }
}

}  // namespace
}  // namespace stridewise
