// Step 10: copies run ahead of the multiplication, of tiles from global memory and of fragments
// from shared memory, and blocks take their tiles in an order that the L2 cache likes.
//
// `warp_tile` loads a tile, waits for it, multiplies it, and waits for all warps before it loads
// the next one. With 128 accumulators a thread there is only one block on a multiprocessor, and no
// other block fills these gaps. This step is faster because they are gone: two tiles are in flight
// while one is multiplied (tile_copy.h, tile_mma.h).
//
// Blocks go down eight rows of tiles before they go right (tile_order.h), so that those that run at
// the same time share rows of A and columns of B in the L2.

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_policies.h"
#include "matmul/device/tile_store.h"
#include "matmul/tile_limits.h"

namespace stridewise {
namespace {

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    DoubleBuffered(Gemm<typename Tile::Types> gemm, TileOrder order) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const TilePlace place = order.PlaceOf<Tile>(blockIdx.x);
  const int steps = (gemm.k + Tile::kBlockK - 1) / Tile::kBlockK;
  Accumulators<Tile> accumulators;
  ComputeTile<Tile, OperandLayout::kKMajor, OperandLayout::kMnMajor>(gemm, place, {0, steps},
                                                                     shared, accumulators);
  StoreTile(accumulators, gemm.epilogue, shared, gemm.c, place.offset,
            static_cast<int>(threadIdx.x));
}

}  // namespace

LaunchStatus MatMulDoubleBuffered(const MatMulArgs& args) {
  using Tile = BlockTile<TilePolicy128x256>;
  RETURN_IF_ERROR(CheckTileLd(args));
  const auto gemm = GemmOf<Tile::Types>(args);
  return Launch(DoubleBuffered<Tile>, Grid{TileCount<Tile>(gemm.c)}, Block{Tile::kThreads},
                Tile::kSharedBytes, args.stream, gemm, OrderOf<Tile>(gemm.c));
}

}  // namespace stridewise
