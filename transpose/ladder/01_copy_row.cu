// A copy with one thread an element, neighbouring threads along a row: both sides coalesced. The
// upper bound of the studies, and with 4-byte elements and 16x16 blocks about half of what memory
// can do: too few bytes in flight.

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

absl::Status CopyRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForCopyViews(args, [&](auto in, auto out) {
    return Launch(CopyRowKernel<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
