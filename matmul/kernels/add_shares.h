// The sums of tiles that were cut along k, from the partial sums of their shares: the second kernel
// of shares.h.

#ifndef STRIDEWISE_MATMUL_KERNELS_ADD_SHARES_H_
#define STRIDEWISE_MATMUL_KERNELS_ADD_SHARES_H_

#include <cstdint>

#include "common/launch.h"
#include "matmul/kernels/gemm_args.h"
#include "matmul/kernels/share_plan.h"
#include "matmul/kernels/shares.h"
#include "matmul/kernels/tile_order.h"
#include "matmul/kernels/tile_store.h"

namespace stridewise {
namespace {  // Kernels of their own for each file that includes this.

// How a block divides a part of a cut tile: kLanes neighbouring vectors, kEach times, with kGroups
// threads for each, which add every kGroups-th share.
template <int kLanesOfBlock, int kVectorsOfThread, int kGroupsOfBlock>
struct Adders {
  static constexpr int kLanes = kLanesOfBlock;
  static constexpr int kEach = kVectorsOfThread;
  static constexpr int kGroups = kGroupsOfBlock;
  static constexpr int kVectors = kLanes * kEach;
  static constexpr int kThreads = kLanes * kGroups;
};
using ForFewShares = Adders<64, 4, 1>;   // To find its place takes a thread as long as to add.
using ForManyShares = Adders<32, 1, 8>;  // Each would wait for as many trips to memory.

template <typename Tile, typename Adders>
__global__ void __launch_bounds__(Adders::kThreads) AddShares(Gemm gemm, Shares shares) {
  constexpr int kLanes = Adders::kLanes;
  static_assert(Tile::kRows * Tile::kCols % (kVector * Adders::kVectors) == 0,
                "blocks fill the tile");
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int first_place = static_cast<int>(blockIdx.x) * Adders::kVectors + lane;
  const uint32_t tile = blockIdx.y;
  const Sharers sharers = SharersOfTile(shares, tile);
  const TilePlace first = TileOrder<Tile>(gemm.c).Place(tile % shares.tiles);
  Matrix<float> c = gemm.c;
  c.data += tile / shares.tiles * gemm.stride_c;
  WaitForPreviousKernel();  // With all divisions behind.
  if (sharers.first == sharers.last) return;
  float sums[Adders::kEach][kVector] = {};
  AddPartialSums<Tile, Adders::kGroups>(shares, tile, sharers, first_place, kLanes, group, sums);
  if constexpr (Adders::kGroups > 1) {
    static_assert(Adders::kEach == 1, "a vector a thread");
    __shared__ float4 of_groups[Adders::kGroups][kLanes];
    of_groups[group][lane] = Exchanged(sums[0]);
    __syncthreads();
    if (group > 0) return;
    for (int i = 1; i < Adders::kGroups; ++i) AddExchanged(of_groups[i][lane], sums[0]);
  }
#pragma unroll
  for (int i = 0; i < Adders::kEach; ++i) {
    StoreVector<Tile>(sums[i], first_place + i * kLanes, gemm.scale, c, first.first_row,
                      first.first_col);
  }
}

template <typename Tile, typename Adders>
absl::Status LaunchAdders(const Gemm& gemm, const SharePlan& plan, const Shares& shares,
                          cudaStream_t stream) {
  // Fewer rows than slots, of which there are at most some thousands.
  return LaunchDependent(
      AddShares<Tile, Adders>,
      Grid{Tile::kRows * Tile::kCols / kVector / Adders::kVectors, plan.cut_tiles},
      Block{Adders::kThreads}, 0, stream, gemm, shares);
}

// Nothing where no tile was cut. The kernel before it on the stream makes the shares.
template <typename Tile>
absl::Status LaunchAddShares(const Gemm& gemm, const SharePlan& plan, const Shares& shares,
                             cudaStream_t stream) {
  constexpr int kManyShares = 16;  // Of a tile: two trips to memory for a thread.
  return plan.sharers > kManyShares * plan.cut_tiles
             ? LaunchAdders<Tile, ForManyShares>(gemm, plan, shares, stream)
             : LaunchAdders<Tile, ForFewShares>(gemm, plan, shares, stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNELS_ADD_SHARES_H_
