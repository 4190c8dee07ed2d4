// Step 19: tile_unrolled without padding. Element (y, x) of the tile is stored in column x ^ y of
// its row (XOR swizzling). A row is then a permutation of the 32 banks, and so is a column: there
// are no conflicts on either side, the tile takes 32x32 elements instead of 32x33, and its rows
// stay aligned for wider accesses.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;
static_assert(kTile % kRows == 0, "each thread moves a whole number of elements");
static_assert((kTile & (kTile - 1)) == 0, "x ^ y stays inside a tile of a power of two");

template <typename In, typename Out>
__global__ void TileSwizzled(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x;
  const Index first_row = BlockRow<Index>() * kTile;
  const Index first_col = static_cast<Index>(blockIdx.x) * kTile;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_row + y < in.rows && first_col + x < in.cols) {
      tile[y][x ^ y] = in(first_row + y, first_col + x);
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kRows) {
    if (first_col + y < in.cols && first_row + x < in.rows) {
      out(first_col + y, first_row + x) = tile[x][y ^ x];
    }
  }
}

}  // namespace

LaunchStatus TransposeTileSwizzled(const TransposeArgs& args) {
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileSwizzled<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kTile, kTile), Block{kTile, kRows}, 0, args.stream,
                  in, out);
  });
}

}  // namespace stridewise
