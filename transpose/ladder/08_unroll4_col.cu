// Step 8: naive_col with four elements a thread, a block's width apart. Four strided loads in
// flight hide more latency than one, and the four stores are coalesced. Columns beyond the last
// multiple of four blocks are checked one by one.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kUnroll = 4;

// Row and column are those of `out`.
template <typename In, typename Out>
__global__ void Unroll4Col(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  const Index row = BlockRow<Index>() * blockDim.y + threadIdx.y;
  const Index first = static_cast<Index>(blockIdx.x) * blockDim.x * kUnroll + threadIdx.x;
  if (row >= out.rows) return;
  T value[kUnroll];
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const Index col = first + i * blockDim.x;
    if (col < out.cols) value[i] = in(col, row);
  }
#pragma unroll
  for (int i = 0; i < kUnroll; ++i) {
    const Index col = first + i * blockDim.x;
    if (col < out.cols) out(row, col) = value[i];
  }
}

}  // namespace

LaunchStatus TransposeUnroll4Col(const TransposeArgs& args) {
  const Block& block = args.block;
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(Unroll4Col<decltype(in), decltype(out)>,
                  TileGrid(args.cols, args.rows, block.y, kUnroll * block.x), block, 0, args.stream,
                  in, out);
  });
}

}  // namespace stridewise
