// How transposes on the host go through a matrix: in tiles, and in each in blocks of a cache line
// by a cache line, so that every line that is read or written is used whole at once.

#ifndef STRIDEWISE_TRANSPOSE_CPU_TILES_H_
#define STRIDEWISE_TRANSPOSE_CPU_TILES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/matrix.h"
#include "transpose/cpu/square.h"

namespace stridewise {

// A rectangle of the input.
struct TransposeTile {
  int64_t row, end_row, col, end_col;
};

template <typename T>
void TransposeElements(const ConstMatrix<T>& in, const Matrix<T>& out, const TransposeTile& tile) {
  for (int64_t col = tile.col; col < tile.end_col; ++col) {
    for (int64_t row = tile.row; row < tile.end_row; ++row) out(col, row) = in(row, col);
  }
}

// Transposes a tile by squares in registers, and its last rows and columns one by one.
//
// Goes down the rows of a line first: those squares' stores fill the same cache lines of the
// output, which is when streaming stores leave the processor as whole lines. Each line of the input
// is needed by several squares; with kStages it is copied once to a block without gaps, because
// lines whose distance is a power of two would evict each other from the L1 cache meanwhile.
template <bool kStreams, bool kStages, typename T>
void TransposeSquares(const ConstMatrix<T>& in, const Matrix<T>& out, const TransposeTile& tile) {
  constexpr int64_t kSide = kSquare<T>;
  const int64_t end_row = tile.end_row - (tile.end_row - tile.row) % kSide;
  const int64_t end_col = tile.end_col - (tile.end_col - tile.col) % kSide;
  alignas(64) T block[kStages ? kLine<T> * kLine<T> : 1];
  for (int64_t line = tile.row; line < end_row; line += kLine<T>) {
    const int64_t end_line = std::min(line + kLine<T>, end_row);
    for (int64_t piece = tile.col; piece < end_col; piece += kLine<T>) {
      const int64_t end_piece = std::min(piece + kLine<T>, end_col);
      const T* from = &in(line, piece);
      int64_t ld = in.ld;
      if constexpr (kStages) {
        for (int64_t row = line; row < end_line; ++row) {
          std::memcpy(block + (row - line) * kLine<T>, &in(row, piece),
                      static_cast<size_t>(end_piece - piece) * sizeof(T));
        }
        from = block;
        ld = kLine<T>;
      }
      for (int64_t col = piece; col < end_piece; col += kSide) {
        for (int64_t row = line; row < end_line; row += kSide) {
          Vector16 v[kSide];
          LoadSquare(from + (row - line) * ld + col - piece, ld, v);
          TransposeVectors<T>(v);
          StoreSquare<kStreams>(v, &out(col, row), out.ld);
        }
      }
    }
  }
  TransposeElements(in, out, {tile.row, end_row, end_col, tile.end_col});
  TransposeElements(in, out, {end_row, tile.end_row, tile.col, tile.end_col});
}

// Returns whether every row of the output begins at a cache line: streaming stores of part of a
// line cost a transaction each.
template <typename T>
bool CanStream(const Matrix<T>& out) {
  return reinterpret_cast<uintptr_t>(out.data) % 64 == 0 &&
         (out.rows <= 1 || out.ld % kLine<T> == 0);
}

// A tile's bytes along a row of the input, and along a row of the output. Streaming stores leave
// nothing in the caches, so that tiles can be as wide as the hardware's prefetching likes; else
// every line of the output that a tile opens has to stay in the L1 cache.
struct TileBytes {
  int64_t in, out;
};
inline constexpr TileBytes kStreamedTile = {1024, 128};
inline constexpr TileBytes kCachedTile = {256, 256};

// Cuts a matrix into tiles.
template <typename T>
class TransposeTiles {
 public:
  TransposeTiles(int64_t rows, int64_t cols, const TileBytes& tile)
      : height_(tile.out / static_cast<int64_t>(sizeof(T))),
        width_(tile.in / static_cast<int64_t>(sizeof(T))),
        rows_(rows),
        cols_(cols),
        across_((rows + height_ - 1) / height_),
        count_(across_ * ((cols + width_ - 1) / width_)) {}

  int64_t count() const { return count_; }

  // Numbers tiles along the rows of the output.
  TransposeTile operator[](int64_t index) const {
    const int64_t row = index % across_ * height_;
    const int64_t col = index / across_ * width_;
    return {row, std::min(row + height_, rows_), col, std::min(col + width_, cols_)};
  }

 private:
  int64_t height_;
  int64_t width_;
  int64_t rows_;
  int64_t cols_;
  int64_t across_;
  int64_t count_;
};

// Transposes a matrix on `threads` threads of OpenMP, with streaming stores where asked and
// possible.
template <typename T>
void TransposeByTiles(const ConstMatrix<T>& in, const Matrix<T>& out, bool streams, int threads) {
  const bool can_stream = streams && CanStream(out);
  const TransposeTiles<T> tiles(in.rows, in.cols, can_stream ? kStreamedTile : kCachedTile);
  const bool stages = in.ld * int64_t{sizeof(T)} % 4096 == 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < tiles.count(); ++i) {
      if (can_stream) {
        TransposeSquares<true, true>(in, out, tiles[i]);
      } else if (stages) {
        TransposeSquares<false, true>(in, out, tiles[i]);
      } else {
        TransposeSquares<false, false>(in, out, tiles[i]);
      }
    }
    if (can_stream) EndStreaming();
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_TILES_H_
