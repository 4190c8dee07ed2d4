// tile_swizzled with as many blocks as the device holds at once; each walks over the tiles with the
// grid as its stride. No block is started for each tile; but a block that stores does not load, and
// only its neighbours on the multiprocessor keep memory busy meanwhile.

#include "common/launch.h"
#include "common/occupancy.h"
#include "common/status_macros.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;
static_assert(kTile % kRows == 0, "each thread moves a whole number of elements");
static_assert((kTile & (kTile - 1)) == 0, "x ^ y stays inside a tile of a power of two");

template <typename T>
__global__ void TilePersistent(ConstMatrix<T> in, Matrix<T> out, int64_t tile_cols, int64_t tiles) {
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x;
  for (int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const int64_t first_row = i / tile_cols * kTile;
    const int64_t first_col = i % tile_cols * kTile;
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
    __syncthreads();  // Before the next tile overwrites this one.
  }
}

}  // namespace

absl::Status TransposeTilePersistent(const TransposeArgs& args) {
  const int64_t tile_cols = CeilDiv(args.cols, kTile);
  const int64_t tiles = tile_cols * CeilDiv(args.rows, kTile);
  return ForElementSize(args, [&](auto element) -> absl::Status {
    using T = decltype(element);
    const Block block = {kTile, kRows};
    ASSIGN_OR_RETURN(const int64_t resident, ResidentBlocks(TilePersistent<T>, block, 0));
    return Launch(TilePersistent<T>, Grid{tiles < resident ? tiles : resident}, block, 0,
                  args.stream, args.In<T>(), args.Out<T>(), tile_cols, tiles);
  });
}

}  // namespace stridewise
