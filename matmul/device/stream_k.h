// The kernels and the launch of `stream_k` and its relatives, which differ in their tiles.
//
// Tiles in the general form, as `double_buffered` makes them; those that do not fill a round of all
// multiprocessors are cut along k, see shares.h.

#ifndef STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_
#define STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "common/gpu/occupancy.h"
#include "matmul/args.h"
#include "matmul/device/add_shares.h"
#include "matmul/device/block_product.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/share_plan.h"
#include "matmul/device/shares.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {  // Kernels of their own for each file that includes this.

// The value, as if it were another: what is computed from it before the main loop and after is then
// computed twice, and not kept in registers, of which the loop has none to spare.
__device__ inline uint32_t Again(uint32_t value) {
#ifndef STRIDEWISE_HOST_EXECUTOR
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Stores all sums of a tile in C of the multiplication `index`. `shared` as for StoreTile().
template <typename Tile>
__device__ inline void StoreSums(const Gemm& gemm, int64_t index, const TilePlace& place,
                                 float* shared, int thread, Sums<Tile>& sums) {
  Matrix<float> c = gemm.c;
  c.data += index * gemm.stride_c;
  if constexpr (Tile::kSlices == 1) {
    StoreTile(sums, gemm.scale, shared, c, place.first_row, place.first_col, thread);
  } else {
    AddSlices(shared, thread, sums, [&](int vector, const float* four) {
      StoreVector<Tile>(four, vector, gemm.scale, c, place.first_row, place.first_col);
    });
  }
}

template <typename Tile, Access kAccessA, Access kAccessB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks) StreamK(Gemm gemm, Shares shares) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const TileOrder<Tile> order(gemm.c);
  Work work;
#pragma unroll 1
  for (uint32_t i = 0; FindShare(shares, blockIdx.x, i, &work); ++i) {
    Sums<Tile> sums;
    ComputeTile<Tile, kAccessA, kAccessB>(
        gemm, work.tile / shares.tiles, order.Place(work.tile % shares.tiles),
        {static_cast<int>(work.first_unit), static_cast<int>(work.units)}, shared, sums);

    const auto thread = static_cast<int>(Again(threadIdx.x));
    const uint32_t block = Again(blockIdx.x);
    FindShare(shares, block, i, &work);
    if (work.units == shares.units_of_tile) {
      StoreSums(gemm, work.tile / shares.tiles, order.Place(work.tile % shares.tiles), shared,
                thread, sums);
    } else {
      StorePartialSums(shares, work.tile, block, shared, thread, sums);
    }
    __syncthreads();
  }
}

// The whole tiles, in a kernel of their own: without the loop over work the compiler finds a better
// order for the main loop, 2 % faster.
template <typename Tile, Access kAccessA, Access kAccessB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    WholeTiles(Gemm gemm, Shares shares) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const uint32_t tile = shares.cut_tiles + blockIdx.x;
  const TilePlace place = TileOrder<Tile>(gemm.c).Place(tile % shares.tiles);
  const int64_t index = tile / shares.tiles;
  Sums<Tile> sums;
  ComputeTile<Tile, kAccessA, kAccessB>(gemm, index, place,
                                        {0, static_cast<int>(shares.units_of_tile)}, shared, sums);
  StoreSums(gemm, index, place, shared, static_cast<int>(threadIdx.x), sums);
}

// On the host executor nothing, so that small tests share.
template <typename Tile>
constexpr double ShareCost() {
#ifdef STRIDEWISE_HOST_EXECUTOR
  constexpr double kFactor = 0;
#else
  constexpr double kFactor = 1;
#endif
  return kFactor * Tile::kShareCost;
}

template <typename Tile>
absl::StatusOr<SharePlan> PlanFor(const Gemm& gemm, int64_t batch) {
  ASSIGN_OR_RETURN(const int64_t slots,
                   ResidentBlocks(StreamK<Tile, Access::kAlongTerms, Access::kAcross>,
                                  Block{Tile::kThreads}, Tile::kSharedBytes));
  return PlanShares(TileCount<Tile>(gemm.c), batch, CeilDiv(gemm.depth, Tile::kDepth),
                    int64_t{Tile::kRows} * Tile::kCols * static_cast<int64_t>(sizeof(float)), slots,
                    ShareCost<Tile>());
}

template <typename Tile>
int64_t StreamKWorkspaceBytes(const MatMulArgs& args) {
  const absl::StatusOr<SharePlan> plan = PlanFor<Tile>(GemmOf(args), args.batch);
  return plan.ok() ? plan->WorkspaceBytes() : 0;
}

template <typename Tile>
absl::Status LaunchStreamK(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckTileLd(args));
  const Gemm gemm = GemmOf(args);
  ASSIGN_OR_RETURN(SharePlan plan, PlanFor<Tile>(gemm, args.batch));
  if (args.workspace_bytes < plan.WorkspaceBytes()) plan.ShareNothing();
  const Shares shares = plan.WithWorkspace(args.workspace);
  RETURN_IF_ERROR(ForAccesses(args, [&](auto access_a, auto access_b) {
    RETURN_IF_ERROR(Launch(WholeTiles<Tile, access_a(), access_b()>, Grid{plan.WholeTiles()},
                           Block{Tile::kThreads}, Tile::kSharedBytes, args.stream, gemm, shares));
    return Launch(StreamK<Tile, access_a(), access_b()>, Grid{plan.sharers}, Block{Tile::kThreads},
                  Tile::kSharedBytes, args.stream, gemm, shares);
  }));
  return LaunchAddShares<Tile>(gemm, plan, shares, args.stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_
