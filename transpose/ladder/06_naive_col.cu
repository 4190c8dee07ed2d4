// Step 6: naive_row with the strided side exchanged: it reads along columns and writes along rows.
// It is faster, because a strided load has a second chance: the rest of its sector stays in L1,
// where neighbouring warps find it. A strided store has none.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

// Row and column are those of `out`.
template <typename In, typename Out>
__global__ void NaiveCol(In in, Out out) {
  using Index = typename In::Index;
  const Index row = BlockRow<Index>() * blockDim.y + threadIdx.y;
  const Index col = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < out.rows && col < out.cols) out(row, col) = in(col, row);
}

}  // namespace

LaunchStatus TransposeNaiveCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(NaiveCol<decltype(in), decltype(out)>,
                  TileGrid(args.cols, args.rows, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
