// Step 1: a copy with one element a thread. Neighbouring threads take neighbouring elements of a
// row, so both sides are coalesced: a warp touches no sector of which it does not use every byte.
// The studies take it as the upper bound of what a transpose can reach. With 4-byte elements and
// 16x16 blocks it still reaches only about half of the memory's bandwidth, because too few bytes
// are in flight.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

template <typename In, typename Out>
__global__ void CopyRowKernel(In in, Out out) {
  using Index = typename In::Index;
  const Index row = BlockRow<Index>() * blockDim.y + threadIdx.y;
  const Index col = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < in.rows && col < in.cols) out(row, col) = in(row, col);
}

}  // namespace

LaunchStatus CopyRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForCopyViews(args, [&](auto in, auto out) {
    return Launch(CopyRowKernel<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
