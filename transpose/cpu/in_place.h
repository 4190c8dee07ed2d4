// Transposes of square matrices in place: tiles are exchanged with those across the diagonal.

#ifndef STRIDEWISE_TRANSPOSE_CPU_IN_PLACE_H_
#define STRIDEWISE_TRANSPOSE_CPU_IN_PLACE_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/matrix.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/tiles.h"

namespace stridewise {

// Exchanges the tile and the one across the diagonal, both transposed; squares on the diagonal
// once.
template <typename T>
void SwapTiles(const Matrix<T>& matrix, const TransposeTile& tile) {
  constexpr int64_t kSide = kSquare<T>;
  for (int64_t row = tile.row; row < tile.end_row; row += kSide) {
    const int64_t first_col = tile.row == tile.col ? row : tile.col;
    for (int64_t col = first_col; col < tile.end_col; col += kSide) {
      if (std::max(row, col) + kSide <= matrix.rows) {
        Vector16 upper[kSide];
        Vector16 lower[kSide];
        LoadSquare<T>(&matrix(row, col), matrix.ld, upper);
        LoadSquare<T>(&matrix(col, row), matrix.ld, lower);
        TransposeVectors<T>(upper);
        TransposeVectors<T>(lower);
        StoreSquare(upper, &matrix(col, row), matrix.ld);
        StoreSquare(lower, &matrix(row, col), matrix.ld);
        continue;
      }
      for (int64_t r = row; r < std::min(row + kSide, tile.end_row); ++r) {
        for (int64_t c = row == col ? r + 1 : col; c < std::min(col + kSide, tile.end_col); ++c) {
          std::swap(matrix(r, c), matrix(c, r));
        }
      }
    }
  }
}

// Transposes a batch of square matrices, `stride` elements apart, on `threads` threads of OpenMP.
template <typename T>
void TransposeInPlace(const Matrix<T>& first, int64_t batch, int64_t stride, int threads) {
  const TransposeTiles<T> tiles(first.rows, first.cols);
  const int64_t count = tiles.count();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16) if (threads > 1)
  for (int64_t i = 0; i < batch * count; ++i) {
    const TransposeTile tile = tiles[i % count];
    if (tile.row > tile.col) continue;
    SwapTiles(Matrix<T>{first.data + i / count * stride, first.rows, first.cols, first.ld}, tile);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_IN_PLACE_H_
