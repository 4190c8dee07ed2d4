// Step 20: tile_swizzled with persistent blocks: the grid has only the blocks that the device holds
// at once, and each of them loops over the tiles with the size of the grid as its stride. This
// saves starting a block for every tile. But a block that stores does not load, and only the other
// blocks on its multiprocessor keep memory busy meanwhile.

#include "common/gpu/current_device.h"
#include "common/gpu/launch.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

constexpr int kTile = 32;
constexpr int kRows = 8;
// 2048 threads, which is what a multiprocessor holds.
constexpr int64_t kBlocksPerMultiprocessor = 8;
static_assert(kTile % kRows == 0, "each thread moves a whole number of elements");
static_assert((kTile & (kTile - 1)) == 0, "x ^ y stays inside a tile of a power of two");

template <typename In, typename Out>
__global__ void TilePersistent(In in, Out out, typename In::Index tile_cols,
                               typename In::Index tiles) {
  using Index = typename In::Index;
  using T = typename Out::Element;
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x;
  for (Index i = blockIdx.x; i < tiles; i += gridDim.x) {
    const Index first_row = i / tile_cols * kTile;
    const Index first_col = i % tile_cols * kTile;
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

LaunchStatus TransposeTilePersistent(const TransposeArgs& args) {
  const int64_t tile_cols = CeilDiv(args.cols, kTile);
  const int64_t tiles = tile_cols * CeilDiv(args.rows, kTile);
  const DeviceModel device =
      args.device_model != nullptr ? *args.device_model : CurrentDeviceModel();
  const int64_t resident = device.multiprocessors * kBlocksPerMultiprocessor;
  return ForTransposeViews(args, [&](auto in, auto out) {
    using Index = typename decltype(in)::Index;
    return Launch(TilePersistent<decltype(in), decltype(out)>,
                  Grid{tiles < resident ? tiles : resident}, Block{kTile, kRows}, 0, args.stream,
                  in, out, static_cast<Index>(tile_cols), static_cast<Index>(tiles));
  });
}

}  // namespace stridewise
