// The order of tiles, which kernels compute without divisions, beside divisions.

#include "matmul/device/tile_order.h"

#include <cstdint>
#include <initializer_list>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

struct Tile {
  static constexpr int kBlockM = 64;
  static constexpr int kBlockN = 32;
};

TEST(FastDivisor, DividesNumbersUpToTheLargest) {
  constexpr uint32_t kMost = 0x7fffffff;
  for (const uint32_t divisor : {1U, 2U, 3U, 7U, 8U, 12U, 641U, 65535U, 65536U, 65537U, 1000003U,
                                 0x3fffffffU, 0x40000000U, 0x40000001U, kMost - 1, kMost}) {
    const FastDivisor fast(divisor);
    EXPECT_EQ(fast.divisor(), divisor);
    const uint32_t last = kMost / divisor * divisor;  // The largest multiple.
    for (const uint32_t number : {0U, 1U, divisor - 1, divisor, last - 1, last, kMost - 1, kMost}) {
      EXPECT_EQ(fast.Quotient(number), number / divisor) << number << " / " << divisor;
    }
  }
}

// Each tile of each matrix once, down eight rows of tiles before it goes right.
TEST(TileOrder, GoesDownBandsOfEightRows) {
  for (const int64_t rows : {1, 7, 8, 9, 16, 21}) {
    for (const int64_t cols : {1, 2, 5, 33}) {
      const TileOrder order(rows, cols);
      uint32_t number = 0;
      for (const int64_t index : {0, 1, 2}) {
        for (int64_t band = 0; band < rows; band += 8) {
          for (int64_t col = 0; col < cols; ++col) {
            for (int64_t row = band; row < rows && row < band + 8; ++row, ++number) {
              const TilePlace place = order.PlaceOf<Tile>(number);
              EXPECT_EQ(place.index, index) << number << " of " << rows << " x " << cols;
              EXPECT_EQ(place.offset.row, row * 64) << number << " of " << rows << " x " << cols;
              EXPECT_EQ(place.offset.col, col * 32) << number << " of " << rows << " x " << cols;
            }
          }
        }
      }
    }
  }
}

// As many tiles as a grid has.
TEST(TileOrder, TakesTheLargestGrid) {
  const TilePlace one_row = TileOrder(1, 0x7fffffff).PlaceOf<Tile>(0x7ffffffe);
  EXPECT_EQ(one_row.index, 0);
  EXPECT_EQ(one_row.offset.row, 0);
  EXPECT_EQ(one_row.offset.col, int64_t{0x7ffffffe} * 32);
  const TilePlace one_col = TileOrder(0x7fffffff, 1).PlaceOf<Tile>(0x7ffffffe);
  EXPECT_EQ(one_col.offset.row, int64_t{0x7ffffffe} * 64);
  EXPECT_EQ(one_col.offset.col, 0);
}

}  // namespace
}  // namespace stridewise
