// Step 7: naive_row with four elements a thread, a block's width apart. The four loads are
// independent of each other, so four are in flight at once; but so are four strided stores, and
// those are the bottleneck. Columns beyond the last multiple of four blocks are checked one by one.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kUnroll = 4;

template <typename In, typename Out>
__global__ void Unroll4Row(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  const Index row = BlockRow<Index>() * blockDim.y + threadIdx.y;
  const Index first = static_cast<Index>(blockIdx.x) * blockDim.x * kUnroll + threadIdx.x;
  if (row >= in.rows) return;
  T value[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const Index col = first + i * blockDim.x;
    if (col < in.cols) value[i] = in(row, col);
  }
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const Index col = first + i * blockDim.x;
    if (col < in.cols) out(col, row) = value[i];
  }
}

}  // namespace

LaunchStatus TransposeUnroll4Row(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(Unroll4Row<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, block.y, kUnroll * block.x), block, 0, args.stream,
                  in, out);
  });
}

}  // namespace stridewise
