// Steps 13 and 14: a tile of 16 rows of 32 elements, written as 32 rows of 16. Blocks have 512
// threads instead of 1024, so that two more of them fit on a multiprocessor. A warp stores two rows
// of 16 elements, 64 bytes each for floats, and for that reads two columns of the tile. With rows
// of 32 elements (tile_rectangular) these lie in one bank each, with rows of 33 in overlapping sets
// of banks, and with rows of 34 (tile_rectangular_padded) in all 32 banks.

#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kRows = 16;
constexpr int kCols = 32;

template <int kPad, typename In, typename Out>
__global__ void TileRectangular(In in, Out out) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kRows][kCols + kPad];
  const Index first_row = BlockRow<Index>() * kRows;
  const Index first_col = static_cast<Index>(blockIdx.x) * kCols;
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  if (first_row + y < in.rows && first_col + x < in.cols) {
    tile[y][x] = in(first_row + y, first_col + x);
  }
  __syncthreads();
  // The same threads, rearranged as the transposed tile: 32 rows of 16.
  const int thread = y * kCols + x;
  const int out_y = thread / kRows;
  const int out_x = thread % kRows;
  if (first_col + out_y < in.cols && first_row + out_x < in.rows) {
    out(first_col + out_y, first_row + out_x) = tile[out_x][out_y];
  }
}

template <int kPad>
LaunchStatus LaunchTileRectangular(const TransposeArgs& args) {
  return ForTransposeViews(args, [&](auto in, auto out) {
    return Launch(TileRectangular<kPad, decltype(in), decltype(out)>,
                  TileGrid(args.rows, args.cols, kRows, kCols), Block{kCols, kRows}, 0, args.stream,
                  in, out);
  });
}

}  // namespace

LaunchStatus TransposeTileRectangular(const TransposeArgs& args) {
  return LaunchTileRectangular<0>(args);
}

LaunchStatus TransposeTileRectangularPadded(const TransposeArgs& args) {
  return LaunchTileRectangular<2>(args);
}

}  // namespace stridewise
