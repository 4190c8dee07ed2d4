// How a consumer of tensor_kernel.h stores a tile of C transposed, whose rows are columns of C.
//
// A product's tiles are 128 high, but may have any multiple of 16 columns. Of an operand that is
// MN-major a tile has panels of 64: where A lies along k and B does not, the columns of the tile
// are better those of A, that is rows of C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_H_

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor_store.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Stores a consumer's 64 columns of C, `row` and the next ones, and all rows of the tile. REQUIRES:
// beta is 0, and the TMA can address C.
template <typename Tile>
__device__ inline void StoreTurned(const CUtensorMap& c, const TensorGemm& gemm,
                                   const TensorShared<Tile>& shared, int consumer, int thread,
                                   int row, int col, int batch,
                                   const float (&d)[Tile::kBlockN / 2]) {
  using Out = typename Tile::Out;
  constexpr int kColumns = 16;  // Of the tile, in four matrices.
  const float alpha = AlphaOf<Tile>(gemm);
  char* const out = shared.Out(consumer, 0);
  if (thread == 0) WaitUntilStoresHaveRead<0>();
  SyncWarpgroup(1 + consumer);
  // Lanes 0 to 7 and 16 to 23 have the addresses of the warp's upper eight rows, which are a piece
  // of 16 bytes of a row of C, and lanes 16 to 31 those of the last eight columns.
  const int lane = thread % 32;
  const int column = lane / 16 * 8 + lane % 8;
  const int piece = thread / 32 * 2 + lane / 8 % 2;
  const uint32_t to =
      SharedAddress(out) + column * kSwizzleBytes + (piece ^ column % kSwizzleRows) * 16;
#pragma unroll
  for (int i = 0; i < Tile::kBlockN / kColumns; ++i) {
    uint32_t matrices[4];
    MatricesOf<Out>(alpha, &d[8 * i], matrices);
    StoreMatrices</*kTurned=*/true>(to + i * kColumns * kSwizzleBytes, matrices);
  }
  FenceForTma();
  SyncWarpgroup(1 + consumer);
  if (thread == 0) {
    StoreBox(c, row, col, batch, SharedAddress(out));
    CommitStores();
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TURNED_H_
