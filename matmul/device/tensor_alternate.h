// Consumers of tensor_kernel.h that have a tile each and multiply in turn ("ping-pong"): while one
// of them stores its tile, the tensor cores multiply the other one's.
//
// A consumer has all rows of its tile, so that of the same accumulators a tile has half the
// columns, and a stage lasts half as long: a product loads half as much again. That pays where C
// is much beside the operands, as with INT8, whose C has 4 bytes for each element.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_ALTERNATE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_ALTERNATE_H_

#include <cuda.h>

#include <cstdint>

#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// Initialises the barriers of the consumers' turns. Called by the thread that does so of others.
template <typename Tile>
__device__ inline void InitTurns(const TensorShared<Tile>& shared) {
  for (int i = 0; i < kConsumers; ++i) shared.Turn(i).Init(kWarpgroupThreads / 32);
}

// Multiplies every other one of the block's tiles, and has `store` store them, 64 rows after the
// other.
//
// A turn ends when a tile's last products have been queued, so that the other consumer's follow
// without a pause. By then all stages of the tile have arrived: the other consumer, which has
// skipped them, waits for a phase that is the next one of its barrier, as a parity requires.
template <typename Tile, typename Store>
__device__ inline void ConsumeInTurn(const CUtensorMap& c, const TensorGemm& gemm,
                                     const TensorShared<Tile>& shared,
                                     const TensorTileOrder<Tile>& order, uint32_t rank,
                                     int consumer, const Store& store) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  const int lane = thread % 32;
  const auto release = [&](int stage) { ReleaseStage(shared, stage, lane); };
  const int clusters = static_cast<int>(gridDim.x) / Tile::kCluster;
  const int steps = (gemm.k + Tile::kBlockK - 1) / Tile::kBlockK;
  PipelineState<Tile::kStages> state;
  state.Skip(consumer * steps);
  uint32_t turn = consumer == 0 ? 1 : 0;  // The first one is there at once.
#pragma unroll 1
  for (int tile = static_cast<int>(blockIdx.x) / Tile::kCluster + consumer * clusters;
       tile < order.tiles(); tile += kConsumers * clusters) {
    const auto coord = order.At(tile);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM;
    typename Tile::Accumulator d[Tile::kParts][Tile::kBlockN / 2];
    const auto multiply = [&](int stage, bool accumulate) {
#pragma unroll
      for (int part = 0; part < Tile::kParts; ++part) {
        MultiplyStage(shared, stage, part, accumulate, d[part]);
      }
    };
    shared.Turn(consumer).Wait(turn);
    turn ^= 1;
    const int last = QueueStages(gemm.k, shared, multiply, release, &state);
    if (lane == 0) shared.Turn(kConsumers - 1 - consumer).Arrive();
    WaitForWgmma<0>();
    release(last);
    state.Skip(steps);
#pragma unroll
    for (int part = 0; part < Tile::kParts; ++part) {
      store(c, gemm, shared, consumer, thread, row + part * kMmaRows, coord.col, coord.batch,
            d[part], {});
    }
  }
  if (thread == 0) WaitUntilStoresHaveRead<0>();
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_ALTERNATE_H_
