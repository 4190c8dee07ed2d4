// The pairs of tiles that blocks exchange where a square is transposed in place. Included by .cu
// files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_TILE_PAIR_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_TILE_PAIR_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// The tiles (i, j) and (j, i), i <= j, of the block. The pairs are the elements of a rectangle that
// is tiles + 1 wide: its row r holds the pairs of row r of the tiles and, behind them, those of row
// tiles - 1 - r. With an odd number of rows the middle one is its own partner, and is taken once.
struct Pair {
  int64_t i, j;
  bool taken;  // Whether another block takes the pair.

  __device__ explicit Pair(int64_t tiles) {
    const int64_t row = blockIdx.y;
    const int64_t col = blockIdx.x;
    const bool first = col < tiles - row;
    i = first ? row : tiles - 1 - row;
    j = i + (first ? col : col - (tiles - row));
    taken = !first && i == row;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_TILE_PAIR_H_
