// The grid of a kernel in which each block takes a tile, for one matrix or a batch.
//
// Blocks take the tiles in the order in which `out` is written: blockIdx.x runs along an out row,
// so that the blocks that run at the same time finish whole rows of `out` and read a band of
// columns of `in`. The other order costs 2 to 3 points of a copy's speed on an H200. blockIdx.y is
// the column of the tile in `in`, and blockIdx.z the matrix; the tiles of a single matrix with more
// than 65535 columns of tiles continue in z.
//
// Where out rows are long, blocks take them in bands: all columns of tiles of one band, then those
// of the next; blockIdx.z counts the bands of all matrices. Neighbours along an in row share cache
// lines at the border between them. Without bands the second of them comes when L2 has dropped the
// line: 217209 x 4424 bytes read 1.5 times the matrix, and reached 0.72 of a copy.
//
// Where rows of `in` are a large power of two apart, a few columns of tiles are taken together, one
// behind the other, so that more neighbouring bytes of a row of `in` are read at a time.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_TILE_GRID_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_TILE_GRID_H_

#include <algorithm>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "transpose/args.h"

namespace stridewise {

// The meaning of blockIdx.z, and the elements from one matrix of a batch to the next.
struct TileBatch {
  bool matrix_in_z = false;
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  unsigned bands = 1;      // Of each matrix.
  unsigned side_bits = 0;  // 2^side_bits columns of tiles are taken together.
  int64_t span_in = 0;     // Elements of `in` from the grid's first to its last.
};

struct TileCoordinate {
  int64_t row, col;
};

// Moves the views to the block's matrix and returns the coordinate of the block's tile. Its row may
// lie behind the last of the matrix if there are bands, and its column if several are taken
// together.
template <typename In, typename Out>
__device__ inline TileCoordinate EnterTile(const TileBatch& batch, In* in, Out* out) {
  if (!batch.matrix_in_z) return {static_cast<int64_t>(blockIdx.x), BlockRow()};
  const unsigned matrix = batch.bands == 1 ? blockIdx.z : blockIdx.z / batch.bands;
  const unsigned band = blockIdx.z - matrix * batch.bands;
  in->data += matrix * batch.stride_in;
  out->data += matrix * batch.stride_out;
  const unsigned side = blockIdx.x & ((1u << batch.side_bits) - 1);
  return {
      static_cast<int64_t>(band) * (gridDim.x >> batch.side_bits) + (blockIdx.x >> batch.side_bits),
      (static_cast<int64_t>(blockIdx.y) << batch.side_bits) + side};
}

// Returns the rows of tiles that a band should have, which was measured on an H200. Where there are
// few columns of tiles, bands are so low that the blocks that run at the same time read whole rows
// of `in`; where there are many, all of a matrix is one band, and they write whole rows of `out`.
inline int64_t BandRows(int64_t tile_rows, int64_t tile_cols) {
  constexpr int64_t kLow = 256;
  if (tile_rows <= kLow || tile_cols > 100) return tile_rows;
  return tile_cols <= 40 ? 8 : kLow;
}

// Calls launch(args, grid, batch) for each grid that the batch needs, usually one, with the
// arguments of the grid's first matrix. One matrix of `in` has tile_rows x tile_cols tiles, which
// are taken in bands of at most band_rows rows, 2^side_bits columns together where that is not 0.
template <typename LaunchFn>
LaunchStatus ForEachTileGrid(const TransposeArgs& args, int64_t tile_rows, int64_t tile_cols,
                             int64_t band_rows, LaunchFn launch, unsigned side_bits = 0) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  const int64_t layers = CeilDiv(tile_cols, kMaxGridYZ);
  const bool matrix_in_z = layers == 1;
  const int64_t bands =
      matrix_in_z ? std::min(CeilDiv(tile_rows, band_rows), kMaxGridYZ) : int64_t{1};
  const int64_t matrices = matrix_in_z ? kMaxGridYZ / bands : 1;  // The most that a grid takes.
  for (int64_t first = 0; first < args.batch; first += matrices) {
    TransposeArgs part = args;
    part.batch = std::min(matrices, args.batch - first);
    part.in = static_cast<const char*>(args.in) + first * args.stride_in * args.element_bytes;
    part.out = static_cast<char*>(args.out) + first * args.stride_out * args.element_bytes;
    const unsigned bits = matrix_in_z ? side_bits : 0;
    const int64_t span =
        (part.batch - 1) * args.stride_in + (args.rows - 1) * args.ld_in + args.cols;
    const Grid grid = {CeilDiv(tile_rows, bands) << bits,
                       CeilDiv(CeilDiv(tile_cols, layers), int64_t{1} << bits),
                       matrix_in_z ? part.batch * bands : layers};
    RETURN_IF_ERROR(launch(part, grid,
                           TileBatch{matrix_in_z, args.stride_in, args.stride_out,
                                     static_cast<unsigned>(bands), bits, span}));
  }
  return LaunchStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_TILE_GRID_H_
