// The sums of tiles that were cut along k, from the partial sums of their shares: the second kernel
// of shares.h.

#ifndef STRIDEWISE_MATMUL_DEVICE_ADD_SHARES_H_
#define STRIDEWISE_MATMUL_DEVICE_ADD_SHARES_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/share_plan.h"
#include "matmul/device/shares.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {  // Kernels of their own for each file that includes this.

// How a block divides a part of a cut tile: kVectors neighbouring vectors, with kGroups threads for
// each, which add every kGroups-th share.
template <int kVectorsOfBlock, int kGroupsOfBlock>
struct Adders {
  static constexpr int kVectors = kVectorsOfBlock;
  static constexpr int kGroups = kGroupsOfBlock;
  static constexpr int kThreads = kVectors * kGroups;
};
using ForFewShares = Adders<64, 1>;
using ForManyShares = Adders<32, 8>;  // With 66 for each tile 10 us less than one after the other.

template <typename Tile, typename Adders>
__global__ void __launch_bounds__(Adders::kThreads) AddShares(Gemm gemm, Shares shares) {
  constexpr int kVectors = Adders::kVectors;
  static_assert(Tile::kRows * Tile::kCols % (kVector * kVectors) == 0, "blocks fill the tile");
  const int lane = static_cast<int>(threadIdx.x) % kVectors;
  const int group = static_cast<int>(threadIdx.x) / kVectors;
  const int place = static_cast<int>(blockIdx.x) * kVectors + lane;
  const uint32_t tile = blockIdx.y;
  const Sharers sharers = SharersOfTile(shares, tile);
  const TilePlace first = TileOrder<Tile>(gemm.c).Place(tile % shares.tiles);
  Matrix<float> c = gemm.c;
  c.data += tile / shares.tiles * gemm.stride_c;
  WaitForPreviousKernel();  // With all divisions behind.
  if (sharers.first == sharers.last) return;
  float four[kVector] = {};
  AddPartialSums<Tile, Adders::kGroups>(shares, tile, sharers, place, group, four);
  if constexpr (Adders::kGroups > 1) {
    __shared__ float4 of_groups[Adders::kGroups][kVectors];
    of_groups[group][lane] = Exchanged(four);
    __syncthreads();
    if (group > 0) return;
    for (int i = 1; i < Adders::kGroups; ++i) AddExchanged(of_groups[i][lane], four);
  }
  StoreVector<Tile>(four, place, gemm.scale, c, first.first_row, first.first_col);
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

#endif  // STRIDEWISE_MATMUL_DEVICE_ADD_SHARES_H_
