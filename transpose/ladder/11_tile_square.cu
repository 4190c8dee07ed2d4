// Steps 11 and 12: both global sides are coalesced, because the exchange of rows and columns
// happens in a 32x32 tile of shared memory, where strides cost no sectors. They cost bank
// conflicts: in the unpadded tile (tile_square) a column lies in a single bank, and a warp's load
// takes 32 wavefronts where one would do. One column of padding (tile_square_padded) moves every
// row one bank further, so that a column is spread over all 32 banks.
//
// Beside them `tile_store_conflicts`: rows and columns are exchanged on the way into the tile, so
// that the store to shared memory takes the 32 wavefronts and the load from it takes one.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;

template <int kPad, typename In, typename Out>
__global__ void TileSquare(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile + kPad];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const Index first_row = BlockRow<Index>() * kTile;
  const Index first_col = static_cast<Index>(blockIdx.x) * kTile;
  if (first_row + y < in.rows && first_col + x < in.cols) {
    tile[y][x] = in(first_row + y, first_col + x);
  }
  __syncthreads();
  if (first_col + y < in.cols && first_row + x < in.rows) {
    out(first_col + y, first_row + x) = tile[x][y];
  }
}

template <typename In, typename Out>
__global__ void TileStoreConflicts(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const Index first_row = BlockRow<Index>() * kTile;
  const Index first_col = static_cast<Index>(blockIdx.x) * kTile;
  if (first_row + y < in.rows && first_col + x < in.cols) {
    tile[x][y] = in(first_row + y, first_col + x);
  }
  __syncthreads();
  if (first_col + y < in.cols && first_row + x < in.rows) {
    out(first_col + y, first_row + x) = tile[y][x];
  }
}

template <int kPad>
LaunchStatus LaunchTileSquare(const TransposeArgs& args) {
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileSquare<kPad, decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kTile, kTile), Block{kTile, kTile}, 0, args.stream,
                  in, out);
  });
}

}  // namespace

LaunchStatus TransposeTileSquare(const TransposeArgs& args) { return LaunchTileSquare<0>(args); }

LaunchStatus TransposeTileSquarePadded(const TransposeArgs& args) {
  return LaunchTileSquare<1>(args);
}

LaunchStatus TransposeTileStoreConflicts(const TransposeArgs& args) {
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileStoreConflicts<decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kTile, kTile), Block{kTile, kTile}, 0, args.stream,
                  in, out);
  });
}

}  // namespace stridewise
