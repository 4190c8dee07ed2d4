// Step 18: the padded 32x32 tile with 256 threads that move four elements each. A thread has four
// loads in flight instead of one, and eight blocks fit on a multiprocessor instead of two, so that
// some blocks load while others wait at their barrier or store.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;
static_assert(kTile % kRows == 0, "each thread moves a whole number of elements");

template <typename In, typename Out>
__global__ void TileUnrolled(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile + 1];
  const int x = threadIdx.x;
  const Index first_row = BlockRow<Index>() * kTile;
  const Index first_col = static_cast<Index>(blockIdx.x) * kTile;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_row + y < in.rows && first_col + x < in.cols) {
      tile[y][x] = in(first_row + y, first_col + x);
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_col + y < in.cols && first_row + x < in.rows) {
      out(first_col + y, first_row + x) = tile[x][y];
    }
  }
}

}  // namespace

LaunchStatus TransposeTileUnrolled(const TransposeArgs& args) {
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileUnrolled<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kTile, kTile), Block{kTile, kRows}, 0, args.stream,
                  in, out);
  });
}

}  // namespace stridewise
