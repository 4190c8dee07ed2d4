// Step 2: a copy in which neighbouring threads walk down a column, so both sides are strided: the
// threads of a warp touch up to 32 different sectors. The studies take it as their lower bound.
// Loads profit from L1, because neighbouring warps soon read the rest of each sector; nothing does
// the same for stores.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

template <typename In, typename Out>
__global__ void CopyColKernel(In in, Out out) {
  using Index = typename In::Index;
  const Index row = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Index col = BlockRow<Index>() * blockDim.y + threadIdx.y;
  if (row < in.rows && col < in.cols) out(row, col) = in(row, col);
}

}  // namespace

LaunchStatus CopyCol(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForCopyViews(args, [&](auto in, auto out) {
    return Launch(CopyColKernel<decltype(in), decltype(out)>,
                  TileGrid(args.cols, args.rows, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
