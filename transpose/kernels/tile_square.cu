// Both global sides coalesced through a 32x32 tile in shared memory. Unpadded, a column of the tile
// lies in one bank: 32 wavefronts a load where one would do. `tile_square_padded` is the same
// kernel with a column of padding.

#include "common/launch.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;

template <typename T, int kPad>
__global__ void TileSquare(ConstMatrix<T> in, Matrix<T> out) {
  __shared__ T tile[kTile][kTile + kPad];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int64_t first_row = BlockRow() * kTile;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * kTile;
  if (first_row + y < in.rows && first_col + x < in.cols) {
    tile[y][x] = in(first_row + y, first_col + x);
  }
  __syncthreads();
  if (first_col + y < in.cols && first_row + x < in.rows) {
    out(first_col + y, first_row + x) = tile[x][y];
  }
}

template <int kPad>
absl::Status LaunchTileSquare(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return Launch(TileSquare<T, kPad>, TileGrid(args.rows, args.cols, kTile, kTile),
                  Block{kTile, kTile}, 0, args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace

absl::Status TransposeTileSquare(const TransposeArgs& args) { return LaunchTileSquare<0>(args); }

absl::Status TransposeTileSquarePadded(const TransposeArgs& args) {
  return LaunchTileSquare<1>(args);
}

}  // namespace stridewise
