// The order in which blocks take the tiles of C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

// The coordinate of a tile's first element in C.
struct TileOffset {
  int64_t row;
  int64_t col;
};

// Where a tile of a batch lies.
struct TilePlace {
  int64_t index;  // The number of the multiplication.
  TileOffset offset;
};

template <typename Tile, typename T>
int64_t TileCount(const Matrix<T>& c) {
  return CeilDiv(c.rows, Tile::kBlockM) * CeilDiv(c.cols, Tile::kBlockN);
}

// Divides by a number that the host knows: one multiplication and a shift, where the device has no
// instruction for it and takes some 100 cycles. Takes numbers below 2^31. With 2^shift / divisor
// rounded up, an error of less than 2^(shift - 31) / divisor times such a number stays below one
// part of the divisor (Granlund and Montgomery, "Division by Invariant Integers using
// Multiplication", 1994).
class FastDivisor {
 public:
  // REQUIRES: 1 <= divisor < 2^31.
  explicit FastDivisor(uint32_t divisor) : divisor_(divisor) {
    while ((uint64_t{1} << (shift_ - 31)) < divisor) ++shift_;
    multiplier_ = static_cast<uint32_t>(((uint64_t{1} << shift_) + divisor - 1) / divisor);
  }

  // Returns number / divisor, rounded down. REQUIRES: number < 2^31.
  __host__ __device__ uint32_t Quotient(uint32_t number) const {
    return static_cast<uint32_t>((uint64_t{number} * multiplier_) >> shift_);
  }
  __host__ __device__ uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_;
  uint32_t multiplier_;
  uint32_t shift_ = 31;
};

// Numbers the tiles in bands of kBandRows rows of tiles: down the rows of a band, then to the next
// column; those of a batch's multiplications one after the other. Blocks that run at the same time
// then compute nearly a square of C, and read the fewest different rows of A and columns of B. A
// kernel's argument, made by the host: every block would wait for three divisions before its first
// load.
class TileOrder {
 public:
  static constexpr uint32_t kBandRows = 8;

  // The order of tile_rows x tile_cols tiles. A call has at most 2^31 - 1 tiles (kMaxGridX); where
  // there are none the order is never asked.
  TileOrder(int64_t tile_rows, int64_t tile_cols)
      : tiles_(Bounded(tile_rows * tile_cols)),
        tiles_of_band_(Bounded(kBandRows * tile_cols)),
        rows_of_last_band_(Bounded(tile_rows % kBandRows)),
        whole_bands_(static_cast<uint32_t>(tile_rows / kBandRows)) {}

  // Returns the place of tile `number` of the batch.
  template <typename Tile>
  __device__ TilePlace PlaceOf(uint32_t number) const {
    const uint32_t index = tiles_.Quotient(number);
    const uint32_t tile = number - index * tiles_.divisor();
    const uint32_t band = tiles_of_band_.Quotient(tile);
    const uint32_t in_band = tile - band * tiles_of_band_.divisor();
    const bool whole = band < whole_bands_;
    const uint32_t col = whole ? in_band / kBandRows : rows_of_last_band_.Quotient(in_band);
    const uint32_t rows = whole ? kBandRows : rows_of_last_band_.divisor();
    const uint32_t row = band * kBandRows + in_band - col * rows;
    return {index, {int64_t{row} * Tile::kBlockM, int64_t{col} * Tile::kBlockN}};
  }

 private:
  // A band of more tiles than there can be is the only one.
  static FastDivisor Bounded(int64_t divisor) {
    constexpr int64_t kMost = (int64_t{1} << 31) - 1;
    return FastDivisor(static_cast<uint32_t>(std::clamp<int64_t>(divisor, 1, kMost)));
  }

  FastDivisor tiles_;  // Of one multiplication.
  FastDivisor tiles_of_band_;
  FastDivisor rows_of_last_band_;  // Where it is no whole one.
  uint32_t whole_bands_;
};

// Returns the order of the tiles of C.
template <typename Tile, typename T>
TileOrder OrderOf(const Matrix<T>& c) {
  return {CeilDiv(c.rows, Tile::kBlockM), CeilDiv(c.cols, Tile::kBlockN)};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_ORDER_H_
