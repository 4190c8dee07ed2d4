// The kernels of tensor cores for few tiles and a long k: clusters divide the steps of all tiles
// evenly (stream_k_parts.h), leave the sums of their parts in the workspace as threads have them,
// and a second kernel adds them up.
//
// Blocks of a cluster that divide k, as in split.h, are at most eight, of which fewer fit than
// there are multiprocessors, and cannot share what they load. Here a pair of blocks that lie below
// each other loads its columns once, and any number of pairs divides a tile.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/single.h"
#include "matmul/device/tensor/stream_k_parts.h"
#include "matmul/device/tensor_accumulation.h"
#include "matmul/device/tensor_tile.h"

namespace stridewise {

// 128 rows and kColumns columns for each block of a cluster, and as many stages as there is room
// for: C is not staged. Tiles whose columns are no panels of 64 are what TensorTile calls turned;
// here any tile may be one of C transposed.
template <typename ElementType, int kColumns, int kClusterBlocks, OperandLayout kMajorOfA,
          OperandLayout kMajorOfB>
struct StreamKTile
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

// Returns the number of a thread's first vector among those of its part; the next one lies
// kWarpgroupThreads behind it.
template <typename Tile>
__device__ inline int StreamKVector(uint32_t rank, int consumer, int thread) {
  return (static_cast<int>(rank) * Tile::kConsumerGroups + consumer) * Tile::kVectors *
             kWarpgroupThreads +
         thread;
}

// The place of a block's producer in its cluster's run.
template <typename Tile>
class StreamKCursor {
 public:
  __device__ StreamKCursor(const StreamKWork& work, int cluster, uint32_t rank)
      : work_(work), rank_(static_cast<int>(rank)) {
    const int64_t first = work.FirstStep(cluster);
    left_ = static_cast<int>(work.FirstStep(cluster + 1) - first);
    tile_ = static_cast<int>(first / work.steps);
    step_ = static_cast<int>(first % work.steps);
    Locate();
  }

  __device__ bool HasStep() const { return left_ > 0; }

  // Starts the copies of the step to a stage, and goes on to the next.
  template <bool kAlone>
  __device__ void Load(const CUtensorMap& a, const CUtensorMap& b, const TensorGemm& gemm,
                       const TensorShared<Tile>& shared, int stage) {
    shared.Full(stage).ArriveExpecting(Tile::kStageBytes);
    LoadStage<Tile, kAlone>(a, b, gemm, shared, stage, row_, col_, step_ * Tile::kBlockK, batch_,
                            static_cast<uint32_t>(rank_));
    --left_;
    if (++step_ < work_.steps) return;
    step_ = 0;
    ++tile_;
    Locate();
  }

 private:
  __device__ void Locate() {
    const StreamKTileAt at(work_, tile_);
    row_ = (at.row * Tile::kCluster + rank_) * Tile::kBlockM;
    col_ = at.col * Tile::kBlockN;
    batch_ = at.batch;
  }

  const StreamKWork& work_;
  int rank_, left_, tile_, step_;
  int row_, col_, batch_;
};

// Leaves the sums of each part of a cluster's run in `sums`. Called with the blocks of all
// clusters.
template <typename Tile>
__global__ void __launch_bounds__(kSingleThreads<Tile>, 1)
    TensorStreamK(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                  const __grid_constant__ TensorGemm gemm, const __grid_constant__ StreamKWork work,
                  float4* sums) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kConsumerThreads = Tile::kConsumerGroups * kWarpgroupThreads;
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const uint32_t rank = Tile::kCluster > 1 ? ClusterRank() : 0;
  const int cluster = static_cast<int>(blockIdx.x) / Tile::kCluster;
  StreamKCursor<Tile> cursor(work, cluster, rank);
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
    for (int i = 0; i < Tile::kStages && cursor.HasStep(); ++i) {
      cursor.template Load</*kAlone=*/true>(a, b, gemm, shared, i);
    }
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
      while (cursor.HasStep()) {
        shared.Empty(state.stage).Wait(state.phase);
        cursor.template Load</*kAlone=*/false>(a, b, gemm, shared, state.stage);
        state.Advance();
      }
    }
    __syncwarp();
  } else {
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads;
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
    const auto release = [&](int stage) { ReleaseStage(shared, stage, thread % 32); };
    int64_t first = work.FirstStep(cluster);
    const int64_t last = work.FirstStep(cluster + 1);
#pragma unroll 1
    while (first < last) {
      const int tile = static_cast<int>(first / work.steps);
      const int64_t end = int64_t{tile + 1} * work.steps;
      const int steps = static_cast<int>((end < last ? end : last) - first);
      float d[Tile::kBlockN / 2];
      SumStages(steps * Tile::kBlockK, shared, consumer, release, &state, d);
      first += steps;
#ifndef NO_LET
      if (first == last) LetNextKernelBegin();
#endif
      float4* const to = sums + int64_t{work.PartOf(tile, cluster)} * Tile::kPartVectors +
                         StreamKVector<Tile>(rank, consumer, thread);
#pragma unroll
      for (int i = 0; i < Tile::kVectors; ++i) {
        to[i * kWarpgroupThreads] = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
      }
    }
  }
  if constexpr (Tile::kCluster > 1) SyncCluster();
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_H_
