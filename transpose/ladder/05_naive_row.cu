// Reads along rows, writes along columns. A warp of a 16x16 block stores into 16 rows of `out`, 2
// elements each: 16 sectors of 32 bytes for 128 bytes of data, 25 %; with 32x8 blocks 32
// sectors, 12.5 %. Stores are not gathered in L1.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

template <typename In, typename Out>
__global__ void NaiveRow(In in, Out out) {
  using Index = typename In::Index;
  const Index row = BlockRow<Index>() * blockDim.y + threadIdx.y;
  const Index col = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < in.rows && col < in.cols) out(col, row) = in(row, col);
}

}  // namespace

absl::Status TransposeNaiveRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(NaiveRow<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
