// The kernels of tensor cores for few tiles and a long k: clusters have equal parts of the steps of
// a tile, leave their sums in the workspace as threads have them, and a second kernel adds them up
// in the order of k, so that the same call gives the same bits.
//
// Blocks of a cluster that divide k, as in split.h, are at most eight, of which fewer fit than
// there are multiprocessors, and cannot share what they load. Here a pair of blocks that lie below
// each other loads its columns once, and any number of pairs divides a tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_

#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"
#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/single.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// 128 rows and kColumns columns for each block of a cluster, and as many stages as there is room
// for: C is not staged. Tiles whose columns are no panels of 64 are what TensorTile calls turned;
// here any tile may be one of C transposed.
template <typename ElementType, int kColumns, int kClusterBlocks, OperandLayout kMajorOfA,
          OperandLayout kMajorOfB>
struct KPartsTile
    : TensorTile<ElementType, ElementType, kColumns, 2, kClusterBlocks, kMajorOfA, kMajorOfB,
                 TensorSums::kTensorCores, /*kIsTurned=*/kColumns % 64 != 0> {
  using Base = TensorTile<ElementType, ElementType, kColumns, 2, kClusterBlocks, kMajorOfA,
                          kMajorOfB, TensorSums::kTensorCores, kColumns % 64 != 0>;
  static constexpr int kMostStages = 8;
  static constexpr int kMostBytes = 224 * 1024;
  static constexpr int kStages =
      kMostBytes / Base::kStageBytes < kMostStages ? kMostBytes / Base::kStageBytes : kMostStages;
  static constexpr int kBarrierOffset = kStages * Base::kStageBytes;
  static constexpr int kSharedBytes =
      kBarrierOffset + 2 * kStages * static_cast<int>(sizeof(Mbarrier)) + 1024;

  // Vectors of four sums: of a thread, and of a part.
  static constexpr int kVectors = kColumns / 8;
  static constexpr int kPartVectors =
      kClusterBlocks * Base::kConsumerGroups * kVectors * kWarpgroupThreads;
};

// The tiles of a product, of a batch one product after the other, and the parts that each one's
// steps along k are divided into. There are at most as many parts as steps.
struct KPartsWork {
  int steps;  // Of a tile.
  int rows;   // Of tiles, of a product. Tiles follow each other down its columns.
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
      : row(tile % work.rows),
        col(tile / work.rows % work.cols),
        batch(tile / (work.rows * work.cols)) {}
};

// Returns the number of a thread's first vector among those of its part; the next one lies
// kWarpgroupThreads behind it.
template <typename Tile>
__device__ inline int KPartsVector(uint32_t rank, int consumer, int thread) {
  return (static_cast<int>(rank) * Tile::kConsumerGroups + consumer) * Tile::kVectors *
             kWarpgroupThreads +
         thread;
}

// Leaves the sums of each part in `sums`. Called with the blocks of a cluster for each part of each
// tile: those that have the same part of all tiles follow each other, since they read the same k.
template <typename Tile>
__global__ void __launch_bounds__(kSingleThreads<Tile>, 1)
    TensorKParts(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ TensorGemm gemm, const __grid_constant__ KPartsWork work,
                 float4* sums) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kConsumerThreads = Tile::kConsumerGroups * kWarpgroupThreads;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const uint32_t rank = Tile::kCluster > 1 ? ClusterRank() : 0;
  const int cluster = static_cast<int>(blockIdx.x) / Tile::kCluster;
  const int part = cluster / work.tiles;
  const KPartsTileAt at(work, cluster - part * work.tiles);
  const int first = work.FirstStep(part);
  const int steps = work.FirstStep(part + 1) - first;
  const auto load = [&](auto is_alone, int step, int stage) {
    shared.Full(stage).ArriveExpecting(Tile::kStageBytes);
    LoadStage<Tile, decltype(is_alone)::value>(
        a, b, gemm, shared, stage,
        (at.row * Tile::kCluster + static_cast<int>(rank)) * Tile::kBlockM, at.col * Tile::kBlockN,
        (first + step) * Tile::kBlockK, at.batch, rank);
  };
  if (threadIdx.x == kConsumerThreads) {
    PrefetchMap(a);
    PrefetchMap(b);
#pragma unroll
    for (int i = 0; i < Tile::kStages; ++i) {
      shared.Full(i).Init(1);
      shared.Empty(i).Init(kConsumerThreads / 32 * Tile::kCluster);
    }
    Mbarrier::InitDone();
    WaitForPreviousKernel();  // Which may have made copies of operands.
    // The first stages do not wait for the cluster's other block (FillStagesAlone()).
#pragma unroll 1
    for (int i = 0; i < Tile::kStages && i < steps; ++i) load(std::true_type(), i, i);
  }
  if constexpr (Tile::kCluster > 1) {
    MeetCluster();
  } else {
    __syncthreads();
  }
  WaitForPreviousKernel();
  PipelineState<Tile::kStages> state;
  if (threadIdx.x >= kConsumerThreads) {
    if (threadIdx.x == kConsumerThreads) {
#pragma unroll 1
      for (int i = Tile::kStages; i < steps; ++i) {
        shared.Empty(state.stage).Wait(state.phase);
        load(std::false_type(), i, state.stage);
        state.Advance();
      }
    }
    __syncwarp();
  } else {
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
    const auto release = [&](int stage) { ReleaseStage(shared, stage, thread % 32); };
    float d[Tile::kBlockN / 2];
    SumStages(steps * Tile::kBlockK, shared, consumer, release, &state, d);
    float4* const to =
        sums + int64_t{cluster} * Tile::kPartVectors + KPartsVector<Tile>(rank, consumer, thread);
#pragma unroll
    for (int i = 0; i < Tile::kVectors; ++i) {
      to[i * kWarpgroupThreads] = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
    }
  }
  if constexpr (Tile::kCluster > 1) SyncCluster();
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_H_
