// One block's part of a product: its tile of C, over some of the terms.

#ifndef STRIDEWISE_MATMUL_DEVICE_BLOCK_PRODUCT_H_
#define STRIDEWISE_MATMUL_DEVICE_BLOCK_PRODUCT_H_

#include <cstdint>

#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_copy.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_product.h"

namespace stridewise {

// Terms of a sum, counted in steps of kDepth.
struct Steps {
  int first;
  int count;
};

// Sets `sums` of each slice to its part of those of the tile at `place` over `steps`, for the
// multiplication `index` of the batch.
template <typename Tile, Access kAccessA, Access kAccessB>
__device__ inline void ComputeTile(const Gemm& gemm, int64_t index, const TilePlace& place,
                                   const Steps& steps, float* shared, Sums<Tile>& sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const int first_term = steps.first * Tile::kDepth;
  Operand a = gemm.a;
  Operand b = gemm.b;
  a.data += index * gemm.stride_a;
  b.data += index * gemm.stride_b;
  TileCopier<kAccessA, Tile::kRows, Tile::kDepth, Tile::kThreads> copy_a(a, place.first_row,
                                                                         first_term, thread);
  TileCopier<kAccessB, Tile::kCols, Tile::kDepth, Tile::kThreads> copy_b(b, place.first_col,
                                                                         first_term, thread);
  const ProductExtent extent = {
      static_cast<int>(min(a.lines - place.first_row, int64_t{Tile::kRows})),
      static_cast<int>(min(b.lines - place.first_col, int64_t{Tile::kCols})),
      gemm.depth - first_term};
  sums.Clear();
  if (steps.count == 0) return;
  // One part where B's copies are of 16 bytes; measured with the large tile at 4096.
  constexpr bool kBoth = kAccessA == Access::kAlongTerms && kAccessB == Access::kAlongTerms;
  constexpr int kParts = Tile::kSlices > 1 ? 1 : kBoth ? 4 : 2;
  if (kParts > 1 && kAccessB == Access::kAcross && b.vectors) {
    AddProduct<Tile, 1>(copy_a, copy_b, steps.count, extent, shared, thread, sums);
  } else {
    AddProduct<Tile, kParts>(copy_a, copy_b, steps.count, extent, shared, thread, sums);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BLOCK_PRODUCT_H_
