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

  __device__ explicit Pair(int64_t tiles) : Pair(tiles, blockIdx.x) {}

  // Returns the pair where pairs are taken in groups of 2^bits x 2^bits, which are pairs
  // themselves: x of the grid runs through a group and then through the row of groups. Tiles may
  // lie behind the matrix.
  __device__ static Pair OfGroups(unsigned bits) {
    const unsigned inner = blockIdx.x & ((1u << (2 * bits)) - 1);
    Pair pair((gridDim.x >> (2 * bits)) - 1, blockIdx.x >> (2 * bits));
    pair.i = (pair.i << bits) + (inner & ((1u << bits) - 1));
    pair.j = (pair.j << bits) + (inner >> bits);
    pair.taken = pair.taken || pair.i > pair.j;
    return pair;
  }

 private:
  __device__ Pair(int64_t tiles, int64_t col) {
    const int64_t row = blockIdx.y;
    const bool first = col < tiles - row;
    i = first ? row : tiles - 1 - row;
    j = i + (first ? col : col - (tiles - row));
    taken = !first && i == row;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_TILE_PAIR_H_
