// Transposes of square matrices in place: tiles are exchanged with those across the diagonal.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/matrix.h"
#include "transpose/cpu/batch.h"
#include "transpose/cpu/schedules.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/tiles.h"

namespace stridewise {
namespace {

constexpr int64_t kTilesOfTurn = 16;  // That a thread takes at once.

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

template <typename T>
void SwapTiles(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const TransposeTiles<T> tiles(one.rows, one.cols);
  const int64_t count = tiles.count();
  RunInTurn(threads, batch.count * count, kTilesOfTurn, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const TransposeTile tile = tiles[i % count];
      if (tile.row > tile.col) continue;
      auto* const data = reinterpret_cast<T*>(one.out + i / count * batch.stride_out);
      SwapTiles(Matrix<T>{data, one.rows, one.cols, one.ld_out / int64_t{sizeof(T)}}, tile);
    }
  });
}

}  // namespace

void TransposeInPlace(const BatchTranspose& batch, int threads) {
  threads = ThreadsForBytes(batch.moved_bytes(), threads);
  switch (batch.first.element_bytes) {
    case 1:
      return SwapTiles<uint8_t>(batch, threads);
    case 2:
      return SwapTiles<uint16_t>(batch, threads);
    case 4:
      return SwapTiles<uint32_t>(batch, threads);
    case 8:
      return SwapTiles<uint64_t>(batch, threads);
    default:
      return SwapTiles<unsigned __int128>(batch, threads);
  }
}

}  // namespace stridewise
