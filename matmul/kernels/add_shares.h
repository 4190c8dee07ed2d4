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

constexpr int kAdders = 64;

// A block for so many vectors of a cut tile, and a row of them for each tile.
template <typename Tile>
__global__ void __launch_bounds__(kAdders) AddShares(Gemm gemm, Shares shares) {
  static_assert(Tile::kRows * Tile::kCols % (kVector * kAdders) == 0, "blocks fill the tile");
  const int place = static_cast<int>(blockIdx.x) * kAdders + static_cast<int>(threadIdx.x);
  const uint32_t tile = blockIdx.y;
  float four[kVector] = {};
  if (!AddPartialSums<Tile>(shares, tile, place, four)) return;
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

// Nothing where no tile was cut.
template <typename Tile>
absl::Status LaunchAddShares(const Gemm& gemm, const SharePlan& plan, const Shares& shares,
                             cudaStream_t stream) {
  // Fewer than slots, of which there are at most some thousands.
  return Launch(AddShares<Tile>,
                Grid{Tile::kRows * Tile::kCols / kVector / kAdders, plan.cut_tiles}, Block{kAdders},
                0, stream, gemm, shares);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNELS_ADD_SHARES_H_
