// Copies that run ahead, of the global memory's tiles and of the shared memory's fragments, and
// blocks in an order that the L2 likes.
//
// `warp_tile` loads a tile, waits for it, multiplies, and waits for all warps to be done before it
// loads the next. With 128 elements of C a thread there is one block on a multiprocessor and nobody
// to fill the gaps, so here two tiles are on their way while one is multiplied (tile_copy.h,
// tile_product.h).
//
// Blocks go down eight rows of tiles before they go right (tile_order.h): those that run at one
// time share rows of A and columns of B in the L2.

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/block_product.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks) DoubleBuffered(Gemm gemm) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const TilePlace place = TileOrder<Tile>(gemm.c).Place(blockIdx.x);
  const int steps = (gemm.depth + Tile::kDepth - 1) / Tile::kDepth;
  Sums<Tile> sums;
  ComputeTile<Tile, Access::kAlongTerms, Access::kAcross>(gemm, 0, place, {0, steps}, shared, sums);
  StoreTile(sums, gemm.scale, shared, gemm.c, place.first_row, place.first_col,
            static_cast<int>(threadIdx.x));
}

}  // namespace

absl::Status MatMulDoubleBuffered(const MatMulArgs& args) {
  using Tile = BlockTile<128, 256, 32, 64, 64, 3, 1>;
  RETURN_IF_ERROR(CheckTileLd(args));
  const Gemm gemm = GemmOf(args);
  return Launch(DoubleBuffered<Tile>, Grid{TileCount<Tile>(gemm.c)}, Block{Tile::kThreads},
                Tile::kSharedBytes, args.stream, gemm);
}

}  // namespace stridewise
