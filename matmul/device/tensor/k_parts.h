// The kernels of tensor cores for few tiles and a long k: blocks have equal parts of the steps of a
// tile, leave their sums in the workspace as threads have them, and a second kernel adds them up in
// the order of k, so that the same call gives the same bits.
//
// Blocks of a cluster that divide k, as in split.h, are at most eight, of which fewer fit than
// there are multiprocessors, and the last ones wait for each other. Here any number of blocks
// divides a tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_

#include <cuda.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/launch.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/single.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// kGroups times 64 rows and kColumns columns for a block, and as many stages as there is room for:
// C is not staged. Tiles whose columns are no panels of 64 are what TensorTile calls turned; here
// any tile may be one of C transposed.
template <typename ElementType, int kGroups, int kColumns, OperandLayout kMajorOfA,
          OperandLayout kMajorOfB>
struct KPartsTile
    : TensorTile<ElementType, ElementType, kColumns, 1, 1, kMajorOfA, kMajorOfB,
                 TensorSums::kTensorCores, /*kIsTurned=*/kColumns % 64 != 0, kGroups> {
  using Base = TensorTile<ElementType, ElementType, kColumns, 1, 1, kMajorOfA, kMajorOfB,
                          TensorSums::kTensorCores, kColumns % 64 != 0, kGroups>;
  static constexpr int kMostStages = 10;
  static constexpr int kMostBytes = 224 * 1024;
  static constexpr int kStages =
      kMostBytes / Base::kStageBytes < kMostStages ? kMostBytes / Base::kStageBytes : kMostStages;
  static constexpr int kBarrierOffset = kStages * Base::kStageBytes;
  static constexpr int kSharedBytes =
      kBarrierOffset + 2 * kStages * static_cast<int>(sizeof(Mbarrier)) + 1024;

  // Vectors of four sums: of a thread, and of a part.
  static constexpr int kVectors = kColumns / 8;
  static constexpr int kPartVectors = kGroups * kVectors * kWarpgroupThreads;
};

// The tiles of a product, of a batch one product after the other, and the parts that each one's
// steps along k are divided into. There are at most as many parts as steps.
struct KPartsWork {
  int steps;  // Of a tile.
  int rows;   // Of tiles, of a product. They follow each other along the shorter side.
  int cols;
  int tiles;  // Of the batch.
  int parts;

  // Returns the first step of a part, which ends where the next one's begins.
  STRIDEWISE_HOST_DEVICE int FirstStep(int part) const {
    return static_cast<int>(int64_t{steps} * part / parts);
  }
};

// Where a tile is: its row and column among the tiles of a product, and the product.
struct KPartsTileAt {
  int row, col, batch;

  STRIDEWISE_HOST_DEVICE KPartsTileAt(const KPartsWork& work, int tile)
      : batch(tile / (work.rows * work.cols)) {
    const int of_product = tile - batch * work.rows * work.cols;
    const int shorter = work.rows < work.cols ? work.rows : work.cols;
    const int along = of_product % shorter;
    const int across = of_product / shorter;
    row = work.rows < work.cols ? along : across;
    col = work.rows < work.cols ? across : along;
  }
};

// Leaves the sums of each part in `sums`. Called with a block for each part of each tile: those
// that have the same part of all tiles follow each other, since they read the same k.
template <typename Tile>
__global__ void __launch_bounds__(kSingleThreads<Tile>, 1)
    TensorKParts(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ TensorGemm gemm, const __grid_constant__ KPartsWork work,
                 float4* sums) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kConsumerThreads = Tile::kConsumerGroups * kWarpgroupThreads;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const int part = static_cast<int>(blockIdx.x) / work.tiles;
  const KPartsTileAt at(work, static_cast<int>(blockIdx.x) - part * work.tiles);
  const int first = work.FirstStep(part);
  const int steps = work.FirstStep(part + 1) - first;
  const auto load = [&](int step, int stage) {
    shared.Full(stage).ArriveExpecting(Tile::kStageBytes);
    LoadStage(a, b, gemm, shared, stage, at.row * Tile::kBlockM, at.col * Tile::kBlockN,
              (first + step) * Tile::kBlockK, at.batch, 0);
  };
  if (threadIdx.x == kConsumerThreads) {
    PrefetchMap(a);
    PrefetchMap(b);
#pragma unroll
    for (int i = 0; i < Tile::kStages; ++i) {
      shared.Full(i).Init(1);
      shared.Empty(i).Init(kConsumerThreads / 32);
    }
    Mbarrier::InitDone();
    WaitForPreviousKernel();  // Which may have made copies of operands.
#pragma unroll 1
    for (int i = 0; i < Tile::kStages && i < steps; ++i) load(i, i);
  }
  __syncthreads();
  WaitForPreviousKernel();
  PipelineState<Tile::kStages> state;
  if (threadIdx.x >= kConsumerThreads) {
    if (threadIdx.x > kConsumerThreads) return;
#pragma unroll 1
    for (int i = Tile::kStages; i < steps; ++i) {
      shared.Empty(state.stage).Wait(state.phase);
      load(i, state.stage);
      state.Advance();
    }
    return;
  }
  const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  const auto release = [&](int stage) { ReleaseStage(shared, stage, thread % 32); };
  float d[Tile::kBlockN / 2];
  SumStages(steps * Tile::kBlockK, shared, consumer, release, &state, d);
  float4* const to = sums + int64_t{blockIdx.x} * Tile::kPartVectors +
                     consumer * Tile::kVectors * kWarpgroupThreads + thread;
#pragma unroll
  for (int i = 0; i < Tile::kVectors; ++i) {
    to[i * kWarpgroupThreads] = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
  }
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_
