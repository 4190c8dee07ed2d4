// Which tile of C is whose: tiles in the order in which blocks take them.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_

#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

struct TilePlace {
  int64_t first_row;  // Of C.
  int64_t first_col;
};

template <typename Tile>
int64_t TileCount(const Matrix<float>& c) {
  return CeilDiv(c.rows, Tile::kRows) * CeilDiv(c.cols, Tile::kCols);
}

// Down kGroupRows tiles, then right: a band of C after the other. The blocks of one time make
// nearly a square of C, and read the fewest different rows of A and columns of B. There are at most
// 2^31 tiles (kMaxGridX), and so no more than that of rows or columns of them.
template <typename Tile>
class TileOrder {
 public:
  static constexpr uint32_t kGroupRows = 8;

  __device__ explicit TileOrder(const Matrix<float>& c)
      : down_(static_cast<uint32_t>((c.rows + Tile::kRows - 1) / Tile::kRows)),
        across_(static_cast<uint32_t>((c.cols + Tile::kCols - 1) / Tile::kCols)) {}

  __device__ TilePlace Place(uint32_t tile) const {
    // A band of more tiles than there can be is the only one.
    constexpr uint32_t kMost = 0xffffffff;
    const uint32_t tiles_of_band = across_ > kMost / kGroupRows ? kMost : kGroupRows * across_;
    const uint32_t band = tile / tiles_of_band;
    const uint32_t in_band = tile % tiles_of_band;
    const uint32_t rows_left = down_ - band * kGroupRows;
    const uint32_t rows = rows_left < kGroupRows ? rows_left : kGroupRows;
    const uint32_t row = band * kGroupRows + in_band % rows;
    const uint32_t col = in_band / rows;
    return {static_cast<int64_t>(row) * Tile::kRows, static_cast<int64_t>(col) * Tile::kCols};
  }

 private:
  uint32_t down_;    // Rows of tiles,
  uint32_t across_;  // and columns of them.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
