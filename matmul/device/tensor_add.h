// How a consumer of tensor_kernel.h adds beta * C where the TMA can address C: the TMA brings C's
// old values to where the new ones leave from, while the tile is multiplied.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_ADD_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_ADD_H_

#include <cuda.h>

#include <cstdint>

#include "matmul/device/epilogue.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor_store.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Whether there is a kernel that does so: for 16-bit operands, and tiles that need no cluster.
template <typename Tile>
constexpr bool kAddsByTma = false;
template <typename Element, typename Out, int kColumns, int kStages, OperandLayout kMajorA,
          OperandLayout kMajorB>
constexpr bool kAddsByTma<TensorTile<Element, Out, kColumns, kStages, 1, kMajorA, kMajorB>> =
    sizeof(Element) == 2 && kColumns % 128 == 0;

// Starts the copy of a chunk of C, 64 rows of 128 bytes, to one of the consumer's two buffers.
template <typename Tile>
__device__ inline void LoadOldChunk(const CUtensorMap& c, const TensorShared<Tile>& shared,
                                    int consumer, int chunk, int row, int col, int batch) {
  const int buffer = chunk % Tile::kOutBuffers;
  Mbarrier& arrived = shared.Old(consumer, buffer);
  arrived.ArriveExpecting(Tile::kOutBytes);
  CopyBox(c, col + chunk * Tile::kOutElements, row, batch,
          SharedAddress(shared.Out(consumer, buffer)), arrived);
}

// Starts the copies of the first chunks of the consumer's part of a tile. Called by one thread, the
// one that stores.
template <typename Tile>
__device__ inline void LoadOldChunks(const CUtensorMap& c, const TensorShared<Tile>& shared,
                                     int consumer, int row, int col, int batch) {
  constexpr int kChunks = Tile::kBlockN / Tile::kOutElements;
  WaitUntilStoresHaveRead<0>();
#pragma unroll
  for (int chunk = 0; chunk < Tile::kOutBuffers && chunk < kChunks; ++chunk) {
    LoadOldChunk(c, shared, consumer, chunk, row, col, batch);
  }
}

// Adds alpha times the sums to beta times the old values, and stores them. `phases` has a bit for
// the barrier of each buffer, 0 at first. Called by the whole warpgroup, after LoadOldChunks().
template <typename Tile>
__device__ inline void AddByTma(const CUtensorMap& c, const TensorGemm& gemm,
                                const TensorShared<Tile>& shared, int consumer, int thread, int row,
                                int col, int batch,
                                const typename Tile::Accumulator (&d)[Tile::kBlockN / 2],
                                uint32_t* phases) {
  using Out = typename Tile::Out;
  constexpr int kOut = Tile::kOutElements;
  constexpr int kChunks = Tile::kBlockN / kOut;
  static_assert(!Tile::kAInRegisters, "whose rows lie otherwise");
  const int lane = thread % 32;
  const int out_row = TensorRow<Tile>(thread);
  const int swizzle = out_row % kSwizzleRows;
  const auto alpha = AlphaOf<Tile>(gemm);
  const auto beta = BetaOf<Tile>(gemm);
  const auto add = [&](auto first, auto second, char* at) {
    auto* const pair = reinterpret_cast<Out*>(at);
    StorePair(MultiplyAddOnce(beta, static_cast<decltype(first)>(pair[0]), alpha * first),
              MultiplyAddOnce(beta, static_cast<decltype(first)>(pair[1]), alpha * second), pair);
  };
#pragma unroll
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const int buffer = chunk % Tile::kOutBuffers;
    char* const out = shared.Out(consumer, buffer);
    shared.Old(consumer, buffer).Wait(*phases >> buffer & 1);
    *phases ^= 1u << buffer;
#pragma unroll
    for (int j = 0; j < kOut / 8; ++j) {
      const int first = (chunk * (kOut / 8) + j) * 4;
      const int byte = (8 * j + lane % 4 * 2) * static_cast<int>(sizeof(Out));
      const int offset = out_row * kSwizzleBytes + ((byte / 16 ^ swizzle) * 16) + byte % 16;
      add(d[first], d[first + 1], out + offset);
      add(d[first + 2], d[first + 3], out + offset + kSwizzleRows * kSwizzleBytes);
    }
    FenceForTma();
    SyncWarpgroup(1 + consumer);
    if (thread != 0) continue;
    StoreBox(c, col + chunk * kOut, row, batch, SharedAddress(out));
    CommitStores();
    if (chunk + Tile::kOutBuffers >= kChunks) continue;
    WaitUntilStoresHaveRead<0>();
    LoadOldChunk(c, shared, consumer, chunk + Tile::kOutBuffers, row, col, batch);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_ADD_H_
