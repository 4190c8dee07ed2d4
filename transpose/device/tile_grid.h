// The grid of a kernel in which each block takes a tile, for one matrix or a batch.
//
// Blocks take the tiles in the order in which `out` is written: blockIdx.x runs along an out row,
// so that the blocks that run at the same time finish whole rows of `out` and read a band of
// columns of `in`. The other order costs 2 to 3 points of a copy's speed on an H200. blockIdx.y is
// the column of the tile in `in`, and blockIdx.z the matrix; the tiles of a single matrix with more
// than 65535 columns of tiles continue in z.

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
};

// Moves the views to the block's matrix and returns the column of the block's tile.
template <typename In, typename Out>
__device__ inline int64_t EnterMatrix(const TileBatch& batch, In* in, Out* out) {
  if (!batch.matrix_in_z) return BlockRow();
  in->data += blockIdx.z * batch.stride_in;
  out->data += blockIdx.z * batch.stride_out;
  return blockIdx.y;
}

// Calls launch(args, grid, batch) for each grid that the batch needs, usually one, with the
// arguments of the grid's first matrix. One matrix of `in` has tile_rows x tile_cols tiles.
template <typename LaunchFn>
LaunchStatus ForEachTileGrid(const TransposeArgs& args, int64_t tile_rows, int64_t tile_cols,
                             LaunchFn launch) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  const int64_t layers = CeilDiv(tile_cols, kMaxGridYZ);
  const bool matrix_in_z = layers == 1;
  const int64_t matrices = matrix_in_z ? kMaxGridYZ : 1;  // The most that a grid takes.
  for (int64_t first = 0; first < args.batch; first += matrices) {
    TransposeArgs part = args;
    part.batch = std::min(matrices, args.batch - first);
    part.in = static_cast<const char*>(args.in) + first * args.stride_in * args.element_bytes;
    part.out = static_cast<char*>(args.out) + first * args.stride_out * args.element_bytes;
    const Grid grid = {tile_rows, CeilDiv(tile_cols, layers), matrix_in_z ? part.batch : layers};
    RETURN_IF_ERROR(launch(part, grid, TileBatch{matrix_in_z, args.stride_in, args.stride_out}));
  }
  return LaunchStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_TILE_GRID_H_
