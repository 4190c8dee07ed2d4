// Reads along columns, writes along rows: naive_row with the stride on the side of the loads. What
// a sector holds beyond the element that was asked for stays in L1, where neighbouring warps find
// it; a strided store has no such second chance.

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

absl::Status TransposeNaiveCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(NaiveCol<decltype(in), decltype(out)>,
                  TileGrid(args.cols, args.rows, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
