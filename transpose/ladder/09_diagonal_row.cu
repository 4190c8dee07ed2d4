// Step 9: naive_row with the blocks of each row of tiles shifted by the row's number: the first
// blocks of all rows lie along a diagonal. This is against partition camping: on GPUs
// of compute capability 1.x a whole column of tiles could lie in one of the few memory partitions,
// which then served all blocks alone. Since then addresses are hashed over the partitions, which
// prevents it in any order. The shift is taken modulo the *width* of the grid, so that every tile
// is taken exactly once whatever the grid's shape (Ruetsch and Micikevicius, Optimizing Matrix
// Transpose in CUDA, 2009).

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

template <typename In, typename Out>
__global__ void DiagonalRow(In in, Out out) {
  using Index = typename In::Index;
  const Index tile_row = BlockRow<Index>();
  const Index tile_col = (blockIdx.x + tile_row) % gridDim.x;
  const Index row = tile_row * blockDim.y + threadIdx.y;
  const Index col = tile_col * blockDim.x + threadIdx.x;
  if (row < in.rows && col < in.cols) out(col, row) = in(row, col);
}

}  // namespace

LaunchStatus TransposeDiagonalRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(DiagonalRow<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
