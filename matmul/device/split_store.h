// How a consumer of split_kernel.h stores its part of a tile, which no multiplication hides.
//
// By the TMA it stores as many chunks of 128 bytes of a row together as there are buffers. Each
// fence before a store waits for all that the thread has under way, and with the barriers around it
// took a third of a tile of 64 of k. Rows that the TMA cannot address go through shared memory with
// fewer instructions than in tensor_rows.h, which is also for elements of 16 bits.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_

#include <cuda.h>

#include <cstdint>

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

// Eight rows of a warp's 4-byte elements, up to 128 columns: those that a lane has one of in each
// row are at once on their way, so that instructions are few.
template <int kCols>
class StagedWords {
 public:
  static constexpr int kRows = kSwizzleRows;
  static constexpr int kBytes = kRows * kCols * 4;
  static_assert(kCols % 32 == 0);

  __device__ explicit StagedWords(char* shared) : shared_(shared) {}

  __device__ float* At(int row, int col) const {
    return reinterpret_cast<float*>(shared_ + row * kCols * 4 + (col * 4 ^ row * 16));
  }

  // Stores the first `cols` columns of the first `rows` rows at `to`, `ld` elements apart. Called
  // by the whole warp.
  __device__ void Store(int rows, int cols, float* to, int64_t ld) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    constexpr int kTogether = 4;
    to += lane;
    int first = 0;
#pragma unroll 1
    for (; first + kTogether <= rows; first += kTogether, to += kTogether * ld) {
      StoreTogether<kTogether>(first, lane, cols, to, ld);
    }
#pragma unroll 1
    for (; first < rows; ++first, to += ld) StoreTogether<1>(first, lane, cols, to, ld);
  }

 private:
  static constexpr int kWords = kCols / 32;  // Of a lane in a row.

  template <int kTogether>
  __device__ void StoreTogether(int first, int lane, int cols, float* to, int64_t ld) const {
    float words[kTogether][kWords];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const float* const from = At(first + i, lane);
#pragma unroll
      for (int word = 0; word < kWords; ++word) words[i][word] = from[word * 32];
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
#pragma unroll
      for (int word = 0; word < kWords; ++word) {
        if (lane + word * 32 < cols) to[word * 32] = words[i][word];
      }
      to += ld;
    }
  }

  char* shared_;
};

// Stores a consumer's 64 rows that the TMA cannot address, whole. Called by whole warps.
// REQUIRES: beta is 0, and no store by the TMA reads the consumer's part of the shared memory.
template <typename Tile>
__device__ inline void StoreRowsOfWords(const SplitGemm& gemm, const TensorShared<Tile>& shared,
                                        int consumer, int thread, const SplitPlace& place, int row,
                                        const float (&d)[Tile::kBlockN / 2]) {
  constexpr int kCols = Tile::kBlockN < 128 ? Tile::kBlockN : 128;
  using Words = StagedWords<kCols>;
  static_assert(4 * Words::kBytes <= Tile::kOutBuffers * Tile::kOutBytes);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const Words staged(shared.Out(consumer, 0) + warp * Words::kBytes);
  const int first_row = row + warp * 2 * Words::kRows;
  float* const c =
      static_cast<float*>(gemm.c) + place.batch * gemm.stride_c + first_row * gemm.ldc + place.col;
#pragma unroll
  for (int from = 0; from < Tile::kBlockN; from += kCols) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      __syncwarp();  // The rows before have been read.
#pragma unroll
      for (int i = from / 2 + 2 * half; i < (from + kCols) / 2 && i < Tile::kBlockN / 2; i += 4) {
        StorePair(gemm.alpha * d[i], gemm.alpha * d[i + 1],
                  staged.At(lane / 4, i / 4 * 8 + lane % 4 * 2 - from));
      }
      __syncwarp();
      const int rows = min(Words::kRows, gemm.m - first_row - half * Words::kRows);
      const int cols = min(kCols, min(Tile::kBlockN, gemm.n - place.col) - from);
      staged.Store(rows, cols, c + half * Words::kRows * gemm.ldc + from, gemm.ldc);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_STORE_H_
