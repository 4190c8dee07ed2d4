// Step 5: a transpose that reads along rows and writes along columns. A warp of a 16x16 block loads
// two runs of 16 neighbours, but stores into 16 rows of `out`, two elements in each: 16 sectors of
// 32 bytes for 128 bytes of data, an efficiency of 25 %. With 32x8 blocks it is 32
// sectors, 12.5 %. L1 does not collect stores, so every one of these sectors goes on to L2.

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

LaunchStatus TransposeNaiveRow(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(NaiveRow<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, block.x), block, 0, args.stream, in, out);
  });
}

}  // namespace stridewise
