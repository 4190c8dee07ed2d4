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

namespace stridewise {
namespace {  // Kernels of their own for each file that includes this.

// Threads of a block: kLanes vectors of a cut tile, and kGroups for each, which add every
// kGroups-th share. One group where a tile has few.
constexpr int kAdders = 64;
template <int kGroups>
constexpr int kLanes = kAdders / (kGroups > 1 ? 2 : 1);

template <typename Tile, int kGroups>
__global__ void __launch_bounds__(kLanes<kGroups>* kGroups) AddShares(Gemm gemm, Shares shares) {
  constexpr int kVectors = kLanes<kGroups>;
  static_assert(Tile::kRows * Tile::kCols % (kVector * kVectors) == 0, "blocks fill the tile");
  WaitForPreviousKernel();
  const int lane = static_cast<int>(threadIdx.x) % kVectors;
  const int group = static_cast<int>(threadIdx.x) / kVectors;
  const int place = static_cast<int>(blockIdx.x) * kVectors + lane;
  const uint32_t tile = blockIdx.y;
  float four[kVector] = {};
  if (!AddPartialSums<Tile, kGroups>(shares, tile, place, group, four)) return;
  if constexpr (kGroups > 1) {
    __shared__ float4 sums[kGroups][kVectors];
    sums[group][lane] = Exchanged(four);
    __syncthreads();
    if (group > 0) return;
    for (int other = 1; other < kGroups; ++other) AddExchanged(sums[other][lane], four);
  }
  const TilePlace first = TileOrder<Tile>(gemm.c).Place(tile % shares.tiles);
  const TileVector at = VectorAt<Tile>(place);
  const int64_t row = first.first_row + at.row;
  float* const c = gemm.c.data + tile / shares.tiles * gemm.stride_c;
  for (int i = 0; i < kVector; ++i) {
    const int64_t col = first.first_col + at.col + i;
    if (row >= gemm.c.rows || col >= gemm.c.cols) continue;
    const float product = gemm.scale.alpha * four[i];
    float& element = c[row * gemm.c.ld + col];
    element = gemm.scale.beta == 0 ? product : fma(gemm.scale.beta, element, product);
  }
}

template <typename Tile, int kGroups>
absl::Status LaunchAddSharesBy(const Gemm& gemm, const SharePlan& plan, const Shares& shares,
                               cudaStream_t stream) {
  // Fewer rows than slots, of which there are at most some thousands.
  return LaunchDependent(
      AddShares<Tile, kGroups>,
      Grid{Tile::kRows * Tile::kCols / kVector / kLanes<kGroups>, plan.cut_tiles},
      Block{kLanes<kGroups> * kGroups}, 0, stream, gemm, shares);
}

// Nothing where no tile was cut. The kernel before it on the stream makes the shares.
template <typename Tile>
absl::Status LaunchAddShares(const Gemm& gemm, const SharePlan& plan, const Shares& shares,
                             cudaStream_t stream) {
  constexpr int kManyShares = 16;  // Of a tile: two trips to memory for a thread.
  return plan.sharers > kManyShares * plan.cut_tiles
             ? LaunchAddSharesBy<Tile, 8>(gemm, plan, shares, stream)
             : LaunchAddSharesBy<Tile, 1>(gemm, plan, shares, stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNELS_ADD_SHARES_H_
