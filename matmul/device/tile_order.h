// The order in which blocks take the tiles of C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_

#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

// The coordinate of a tile's first element in C.
struct TileOffset {
  int64_t row;
  int64_t col;
};

template <typename Tile, typename T>
int64_t TileCount(const Matrix<T>& c) {
  return CeilDiv(c.rows, Tile::kBlockM) * CeilDiv(c.cols, Tile::kBlockN);
}

// Numbers the tiles in bands of kBandRows rows of tiles: down the rows of a band, then to the next
// column. Blocks that run at the same time then compute nearly a square of C, and read the fewest
// different rows of A and columns of B. There are at most 2^31 tiles (kMaxGridX), and so no more
// rows or columns of tiles than that.
template <typename Tile>
class TileOrder {
 public:
  static constexpr uint32_t kBandRows = 8;

  template <typename T>
  __device__ explicit TileOrder(const Matrix<T>& c)
      : tile_rows_(static_cast<uint32_t>((c.rows + Tile::kBlockM - 1) / Tile::kBlockM)),
        tile_cols_(static_cast<uint32_t>((c.cols + Tile::kBlockN - 1) / Tile::kBlockN)) {}

  __device__ TileOffset OffsetOf(uint32_t tile) const {
    // A band of more tiles than there can be is the only one.
    constexpr uint32_t kMost = 0xffffffff;
    const uint32_t tiles_of_band = tile_cols_ > kMost / kBandRows ? kMost : kBandRows * tile_cols_;
    const uint32_t band = tile / tiles_of_band;
    const uint32_t in_band = tile % tiles_of_band;
    const uint32_t rows_left = tile_rows_ - band * kBandRows;
    const uint32_t rows = rows_left < kBandRows ? rows_left : kBandRows;
    const uint32_t row = band * kBandRows + in_band % rows;
    const uint32_t col = in_band / rows;
    return {static_cast<int64_t>(row) * Tile::kBlockM, static_cast<int64_t>(col) * Tile::kBlockN};
  }

 private:
  uint32_t tile_rows_;
  uint32_t tile_cols_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
