// How transposes on the host go through a matrix: in tiles, and in each in blocks of a cache line
// by a cache line, so that every line that is read or written is used whole at once.

#ifndef STRIDEWISE_TRANSPOSE_CPU_TILES_H_
#define STRIDEWISE_TRANSPOSE_CPU_TILES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/matrix.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/streamed.h"

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
// output. Each line of the input is needed by several squares; with kStages it is copied once to a
// block without gaps, because lines whose distance is a power of two would evict each other from
// the L1 cache meanwhile.
template <bool kStages, typename T>
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
          StoreSquare(v, &out(col, row), out.ld);
        }
      }
    }
  }
  TransposeElements(in, out, {tile.row, end_row, end_col, tile.end_col});
  TransposeElements(in, out, {end_row, tile.end_row, tile.col, tile.end_col});
}

// A tile's bytes along a row of the input, and along a row of the output: every line of the output
// that a tile opens has to stay in the L1 cache.
inline constexpr int64_t kTileBytes = 256;

// Cuts a matrix into tiles.
template <typename T>
class TransposeTiles {
 public:
  TransposeTiles(int64_t rows, int64_t cols)
      : rows_(rows),
        cols_(cols),
        across_((rows + kSide - 1) / kSide),
        count_(across_ * ((cols + kSide - 1) / kSide)) {}

  int64_t count() const { return count_; }

  // Numbers tiles along the rows of the output.
  TransposeTile operator[](int64_t index) const {
    const int64_t row = index % across_ * kSide;
    const int64_t col = index / across_ * kSide;
    return {row, std::min(row + kSide, rows_), col, std::min(col + kSide, cols_)};
  }

 private:
  static constexpr int64_t kSide = kTileBytes / static_cast<int64_t>(sizeof(T));

  int64_t rows_;
  int64_t cols_;
  int64_t across_;
  int64_t count_;
};

// Transposes a matrix, past the caches where `streams`.
template <typename T>
void TransposeByTiles(const ConstMatrix<T>& in, const Matrix<T>& out, bool streams) {
  if (streams) {
    constexpr int64_t kBytes = sizeof(T);
    const StreamedTranspose transpose = {reinterpret_cast<const uint8_t*>(in.data),
                                         in.ld * kBytes,
                                         reinterpret_cast<uint8_t*>(out.data),
                                         out.ld * kBytes,
                                         in.rows,
                                         in.cols,
                                         kBytes};
    TransposeStreamed(transpose, 0, CountStreamedTiles(transpose));
    return;
  }
  const TransposeTiles<T> tiles(in.rows, in.cols);
  const bool stages = in.ld * int64_t{sizeof(T)} % 4096 == 0;
  for (int64_t i = 0; i < tiles.count(); ++i) {
    if (stages) {
      TransposeSquares<true>(in, out, tiles[i]);
    } else {
      TransposeSquares<false>(in, out, tiles[i]);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_TILES_H_
