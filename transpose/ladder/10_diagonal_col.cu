// Step 10: naive_col with the blocks taken along diagonals, in the order and for the reason of
// diagonal_row (step 9).

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

template <typename In, typename Out>
__global__ void DiagonalCol(In in, Out out) {
  using Index = typename In::Index;
  const Index tile_row = BlockRow<Index>();
  const Index tile_col = (blockIdx.x + tile_row) % gridDim.x;
  const Index row = tile_row * blockDim.y + threadIdx.y;
  const Index col = tile_col * blockDim.x + threadIdx.x;
  if (row < out.rows && col < out.cols) out(row, col) = in(col, row);
}

}  // namespace

LaunchStatus TransposeDiagonalCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(DiagonalCol<decltype(in), decltype(out)>,
                  TileGrid(args.cols, args.rows, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
