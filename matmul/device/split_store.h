// How a consumer of split_kernel.h stores its part of a tile by the TMA: as many chunks of 128
// bytes of a row together as there are buffers. Each fence before a store waits for all that the
// thread has under way, and with the barriers around it took a third of a tile of 64 of k.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_

#include <cuda.h>

#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/split_tile.h"
#include "matmul/device/tensor_store.h"

namespace stridewise {

// Stores a consumer's 64 rows through shared memory. Called by the whole warpgroup. REQUIRES: since
// thread 0 waited for its last stores to have read their buffers, all have met at a barrier.
template <typename Tile>
__device__ inline void StoreTogetherByTma(const CUtensorMap& c, const SplitGemm& gemm,
                                          const TensorShared<Tile>& shared, int consumer,
                                          int thread, const SplitPlace& place, int row,
                                          const float (&d)[Tile::kBlockN / 2]) {
  constexpr int kOut = Tile::kOutElements;
  constexpr int kChunks = Tile::kBlockN / kOut;
  constexpr int kTogether = Tile::kOutBuffers;
  static_assert(kChunks % kTogether == 0);
#pragma unroll
  for (int first = 0; first < kChunks; first += kTogether) {
    if (first > 0) {
      if (thread == 0) WaitUntilStoresHaveRead<0>();
      SyncWarpgroup(1 + consumer);
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      StageChunk<Tile>(gemm.alpha, thread, &d[(first + i) * (kOut / 2)], shared.Out(consumer, i));
    }
    FenceForTma();
    SyncWarpgroup(1 + consumer);
    if (thread == 0) {
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        StoreBox(c, place.col + (first + i) * kOut, row, place.batch,
                 SharedAddress(shared.Out(consumer, i)));
      }
      CommitStores();
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_
