// The kernel of tensor_kernel.h for products of several rounds of tiles, whose C is stored beside
// the next tile's multiplications: consumers leave a tile in shared memory, in their buffers and in
// the last stages that they have read, and a warp for each stores it. The producer gets these
// stages back when the TMA has read them.
//
// In tensor_kernel.h a consumer waits for its buffers again and again, and multiplies nothing
// meanwhile: 8192 x 4096 x 1024 takes 111 us so on an H200, and 103 here.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_ASIDE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_ASIDE_H_

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/tensor_kernel.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {

// A consumer's tile in shared memory, as chunks of 64 rows of 128 bytes: first those in its
// buffers, then those in stages, of which it has the rows of A and half of B.
template <typename Tile>
struct ChunksAside {
  static_assert(Tile::kConsumerGroups == kConsumers && !Tile::kTurned && !Tile::kAInRegisters);
  static constexpr int kChunks = Tile::kBlockN / Tile::kOutElements;
  static constexpr int kOfStage = 1 + Tile::kBytesB / kConsumers / Tile::kOutBytes;
  static constexpr int kKept = (kChunks - Tile::kOutBuffers + kOfStage - 1) / kOfStage;  // Stages.
  static constexpr int kOfBuffers = kChunks - kKept * kOfStage;
  static_assert(kKept == 1 && kOfBuffers > 0, "storing a tile takes one stage");

  const TensorShared<Tile>& shared;
  int consumer;
  int stage;  // The last one.

  __device__ char* At(int chunk) const {
    if (chunk < kOfBuffers) return shared.Out(consumer, chunk);
    const int piece = chunk - kOfBuffers;
    char* const base = shared.Base() + stage * Tile::kStageBytes;
    if (piece == 0) return base + consumer * Tile::kOutBytes;
    return base + Tile::kBytesA + (consumer * (kOfStage - 1) + piece - 1) * Tile::kOutBytes;
  }
};

// Named barriers: of both consumers, and of each with the warp that stores its tile.
constexpr int kBarrierOfConsumers = 3;
constexpr int kBarrierOfStores = 4;
__device__ inline void SyncConsumers() {
  asm volatile("bar.sync %0, 256;" ::"n"(kBarrierOfConsumers) : "memory");
}
__device__ inline void ArriveForStore(int consumer) {
  asm volatile("bar.arrive %0, 160;" ::"r"(kBarrierOfStores + consumer) : "memory");
}
__device__ inline void WaitForStore(int consumer) {
  asm volatile("bar.sync %0, 160;" ::"r"(kBarrierOfStores + consumer) : "memory");
}

// Stores the tiles of a consumer, by one warp.
template <typename Tile>
__device__ inline void StoreTilesAside(const CUtensorMap& c, const TensorGemm& gemm,
                                       const TensorShared<Tile>& shared,
                                       const TensorTileOrder<Tile>& order, uint32_t rank,
                                       int consumer) {
  using Chunks = ChunksAside<Tile>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int clusters = static_cast<int>(gridDim.x) / Tile::kCluster;
  const auto steps = static_cast<uint32_t>((gemm.k + Tile::kBlockK - 1) / Tile::kBlockK);
  uint32_t step = 0;
#pragma unroll 1
  for (int tile = static_cast<int>(blockIdx.x) / Tile::kCluster; tile < order.tiles();
       tile += clusters) {
    const auto coord = order.At(tile);
    const int row = coord.row + static_cast<int>(rank) * Tile::kBlockM + consumer * kMmaRows;
    step += steps;
    const Chunks chunks = {shared, consumer, static_cast<int>((step - 1) % Tile::kStages)};
    WaitForStore(consumer);
    if (lane == 0) {
#pragma unroll
      for (int i = 0; i < Chunks::kChunks; ++i) {
        StoreBox(c, coord.col + i * Tile::kOutElements, row, coord.batch,
                 SharedAddress(chunks.At(i)));
      }
      CommitStores();
      WaitUntilStoresHaveRead<0>();
    }
    __syncwarp();
    // As the consumer's warps would have done it, had they not kept the stage.
    if (lane < Tile::kCluster) {
#pragma unroll
      for (int i = 0; i < kWarpgroupThreads / 32; ++i) ArriveAt(shared.Empty(chunks.stage), lane);
    }
  }
}

// Multiplies tiles and leaves them to StoreTilesAside().
template <typename Tile>
__device__ inline void ConsumeAside(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                    const TensorTileOrder<Tile>& order, int consumer) {
  using Chunks = ChunksAside<Tile>;
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  const int lane = thread % 32;
  const int clusters = static_cast<int>(gridDim.x) / Tile::kCluster;
  PipelineState<Tile::kStages> state;
#pragma unroll 1
  for (int tile = static_cast<int>(blockIdx.x) / Tile::kCluster; tile < order.tiles();
       tile += clusters) {
    typename Tile::Accumulator d[Tile::kBlockN / 2];
    int previous = -1;
#pragma unroll 1
    for (int k = 0; k < gemm.k; k += Tile::kBlockK) {
      shared.Full(state.stage).Wait(state.phase);
      FenceWgmma();
      MultiplyStage(shared, state.stage, consumer, k > 0, d);
      CommitWgmma();
      WaitForWgmma<1>();  // The stage before has been read.
      if (previous >= 0 && lane < Tile::kCluster) ArriveAt(shared.Empty(previous), lane);
      previous = state.stage;
      state.Advance();
    }
    WaitForWgmma<0>();
    const Chunks chunks = {shared, consumer, previous};
    const auto alpha = AlphaOf<Tile>(gemm);
#pragma unroll
    for (int i = 0; i < Chunks::kChunks; ++i) {
      if (i == Chunks::kOfBuffers) SyncConsumers();  // Both have read the stage.
      StageChunk<Tile>(alpha, thread, &d[i * (Tile::kOutElements / 2)], chunks.At(i));
    }
    FenceForTma();
    ArriveForStore(consumer);
  }
}

// REQUIRES: beta is 0, the TMA can address C, and k has more steps than there are stages.
template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    TensorProductAside(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                       const __grid_constant__ CUtensorMap c,
                       const __grid_constant__ TensorGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  static_assert(Tile::kCluster > 1);
  extern __shared__ char raw[];
  const TensorShared<Tile> shared(raw);
  const uint32_t rank = ClusterRank();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warpgroup = warp / 4;
  const TensorTileOrder<Tile> order(gemm);
  if (threadIdx.x == 0) {
    PrefetchMap(a);
    PrefetchMap(b);
    for (int i = 0; i < Tile::kStages; ++i) {
      shared.Full(i).Init(1);
      shared.Empty(i).Init(kConsumers * 4 * Tile::kCluster);  // Each consumer warp of the cluster.
    }
    Mbarrier::InitDone();
    WaitForPreviousKernel();  // Which may have made copies of operands.
    FillStagesAlone<Tile, /*kDivides=*/false>(a, b, gemm, shared, order, rank);
  }
  MeetCluster();
  WaitForPreviousKernel();
  if (warpgroup > 0) {
    AcquireRegistersUpTo<kTensorConsumerRegisters>();
    ConsumeAside(gemm, shared, order, warpgroup - 1);
  } else {
    ReleaseRegistersDownTo<kTensorProducerRegisters>();
    if (threadIdx.x == 0) {
      ProduceStages<Tile, /*kDivides=*/false>(a, b, gemm, shared, order, rank);
    } else if (warp > 0 && warp <= kConsumers) {
      StoreTilesAside(c, gemm, shared, order, rank, warp - 1);
    }
  }
  SyncCluster();  // As in MultiplyTensors().
#endif
}

// Queues the product of operands that are stored as `a` and `b`. REQUIRES: as the kernel.
template <typename Tile>
LaunchStatus LaunchAside(const MatMulArgs& args, const TensorGemm& gemm, const Grid& grid,
                         const TensorOperand<typename Tile::Element>& a,
                         const TensorOperand<typename Tile::Element>& b) {
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  ASSIGN_OR_RETURN(const CUtensorMap map_c, StoreMapOf<Tile>(args, gemm, map_a));
  return LaunchDependentClusters(Tile::kCluster, TensorProductAside<Tile>, grid,
                                 Block{Tile::kThreads}, Tile::kSharedBytes, args.stream, map_a,
                                 map_b, map_c, gemm);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_ASIDE_H_
