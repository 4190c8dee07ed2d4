// How a transpose past the caches is cut into tiles, and how a tile is fetched before its turn.

#ifndef STRIDEWISE_TRANSPOSE_CPU_STREAMED_TILES_H_
#define STRIDEWISE_TRANSPOSE_CPU_STREAMED_TILES_H_

#include <algorithm>
#include <cstdint>

#include "transpose/cpu/square.h"
#include "transpose/cpu/streamed.h"

namespace stridewise {

// The shape of a tile: cache lines along a row of the output, and bytes along a row of the input.
//
// Where rows of the output begin with cache lines, two lines and 512 columns, up to a page: one
// line costs half of the speed of memory, more lines need more rows of the input, and more columns
// lie in more pages of the output than translation buffers hold. Where they do not, a tile stores a
// line from what the one before it left, and the first and last one of a thread are stored in
// parts: four lines share that. So do rows of the input that are shorter than a page.
struct TileShape {
  int lines;
  int64_t width;
};

inline constexpr int64_t kMostTileWidth = 4096;

inline TileShape ShapeOfTiles(const StreamedTranspose& matrix) {
  if (matrix.tiling == StreamedTiling::kAmd) return {4, 2048};
  const bool small = matrix.element_bytes <= 2;
  const bool short_rows = !small && matrix.cols * matrix.element_bytes < 4096;
  if (!matrix.aligned() || short_rows) return {4, small ? 512 : 1024};
  return {2, std::min<int64_t>(512 * matrix.element_bytes, kMostTileWidth)};
}

struct StreamedTile {
  int64_t row = 0, rows = 0;
  int64_t byte = 0, bytes = 0;  // Columns, in bytes.
};

class StreamedTiles {
 public:
  explicit StreamedTiles(const StreamedTranspose& matrix)
      : rows_(matrix.rows),
        row_bytes_(matrix.cols * matrix.element_bytes),
        width_(ShapeOfTiles(matrix).width),
        height_(ShapeOfTiles(matrix).lines * kLineBytes / matrix.element_bytes),
        across_((rows_ + height_ - 1) / height_),
        aligned_(matrix.aligned()) {}

  int64_t count() const { return across_ * ((row_bytes_ + width_ - 1) / width_); }

  // Returns whether all rows of the output begin at a cache line.
  bool aligned() const { return aligned_; }

  // Numbers tiles along the rows of the output.
  StreamedTile operator[](int64_t index) const {
    StreamedTile tile;
    tile.row = index % across_ * height_;
    tile.rows = std::min(height_, rows_ - tile.row);
    tile.byte = index / across_ * width_;
    tile.bytes = std::min(width_, row_bytes_ - tile.byte);
    return tile;
  }

 private:
  int64_t rows_;
  int64_t row_bytes_;
  int64_t width_;
  int64_t height_;
  int64_t across_;
  bool aligned_;
};

// Fetches the lines of a tile to the L2 cache (kAmd: to the L1 cache, which is as good for it), a
// few at a time: some rows side by side, along them, then the next rows.
template <StreamedTiling kTiling, int64_t kRowsAtOnce>
class TileFetcher {
 public:
  TileFetcher(const StreamedTranspose& matrix, const StreamedTile& tile)
      : at_(matrix.in + tile.row * matrix.ld_in + tile.byte),
        ld_(matrix.ld_in),
        rows_(tile.rows),
        bytes_(tile.bytes) {}

  // Fetches about kLines lines more. Without a loop where the tile is whole: the general one took
  // as many instructions as the transpose of these lines.
  template <int64_t kLines>
  void Fetch() {
    constexpr int64_t kSteps = (kLines + kRowsAtOnce - 1) / kRowsAtOnce;
    if (rows_ < kRowsAtOnce || bytes_ % (kSteps * kLineBytes) != 0) return FetchAny(kLines);
#pragma GCC unroll 16
    for (int64_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 16
      for (int64_t row = 0; row < kRowsAtOnce; ++row) {
        FetchLine(at_ + row * ld_ + step * kLineBytes);
      }
    }
    Advance(kSteps * kLineBytes, kRowsAtOnce);
  }

  void FetchAll() {
    while (rows_ > 0) FetchAny(1);
  }

 private:
  static void FetchLine(const uint8_t* line) {
    __builtin_prefetch(line, /*for writing*/ 0, /*cache*/ kTiling == StreamedTiling::kAmd ? 3 : 2);
  }

  void FetchAny(int64_t lines) {
    for (; lines > 0 && rows_ > 0; lines -= kRowsAtOnce) {
      const int64_t rows = std::min(kRowsAtOnce, rows_);
      for (int64_t row = 0; row < rows; ++row) FetchLine(at_ + row * ld_);
      Advance(kLineBytes, rows);
    }
  }

  // Goes on behind `bytes` of `rows` rows.
  void Advance(int64_t bytes, int64_t rows) {
    at_ += bytes;
    fetched_ += bytes;
    if (fetched_ < bytes_) return;
    at_ += rows * ld_ - fetched_;
    rows_ -= rows;
    fetched_ = 0;
  }

  const uint8_t* at_;
  int64_t ld_;
  int64_t rows_;   // From at_ on.
  int64_t bytes_;  // Of each of them.
  int64_t fetched_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_STREAMED_TILES_H_
