// Tiles split along k without a workspace.
//
// The k steps of the split tiles are divided into equal work units, as in stream_k_schedule.h, but
// a unit is computed by a cluster of blocks, each of which takes the same part of the unit's steps
// in a tile. The blocks keep their partial sums in their own shared memory, and then read those of
// each other to add and to store a part of the tile each.
//
// There are no more units than split tiles. So each tile is begun by one unit, which stores it as
// if that were all, and perhaps ended by the next one, which adds to it. Nothing in memory could
// tell a unit that the one before has stored its part: what is left at the end of tiles, the tails,
// has a kernel of its own, whose blocks begin where those of the first end, and wait for all of
// them before they touch C. Everything is added in the order of k, so that the same call gives the
// same bits.
//
// Where each tile can have a cluster of its own and there is room for a small one beside it, the
// second kernel computes the last k steps of every tile meanwhile: 10 blocks for a tile, where
// clusters of 8 are the largest of which there are enough.
//
// A cluster lies within one of the device's groups of multiprocessors, which rarely are multiples
// of its size: up to 9 % of the multiprocessors have nothing to do. With a workspace, units are
// single blocks.

#ifndef STRIDEWISE_MATMUL_DEVICE_CLUSTER_SPLIT_H_
#define STRIDEWISE_MATMUL_DEVICE_CLUSTER_SPLIT_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/accumulators.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

// A block of a cluster, and its part of what the cluster divides: k steps, at most 2^27, or vectors
// of a tile, so that 32 bits suffice.
struct ClusterBlock {
  uint32_t rank;
  uint32_t blocks;  // Of the cluster.

  // Returns where this block's part of `extent` begins.
  __device__ uint32_t Begin(uint32_t extent) const { return rank * extent / blocks; }
  // Returns where it ends, and that of the next rank begins.
  __device__ uint32_t End(uint32_t extent) const { return (rank + 1) * extent / blocks; }
};

// Returns the vector that the block of that rank in the cluster has where this one has `own`.
__device__ inline float4 VectorOfBlock(const float4* own, [[maybe_unused]] uint32_t rank) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  own = static_cast<const float4*>(__cluster_map_shared_rank(own, rank));
#endif
  return *own;
}

// Keeps a block's partial sums of a tile at the beginning of `shared`, which is as for StoreTile().
template <typename Tile>
__device__ inline void KeepPartialSums(float* shared, int thread,
                                       Accumulators<Tile>& accumulators) {
  auto* const sums = reinterpret_cast<float4*>(shared);
  if constexpr (Tile::kWarpsAlongK == 1) {
    ForEachVector(accumulators,
                  [&](int offset, const float* four) { sums[offset + thread] = Exchanged(four); });
  } else {
    // Over the first slice's, which only this thread has read.
    ReduceSlices(shared, thread, accumulators,
                 [&](int number, const float* four) { sums[number] = Exchanged(four); });
  }
}

// Adds the cluster's partial sums of the tile at `offset`, which KeepPartialSums() kept, and stores
// this block's part of the tile.
template <typename Tile>
__device__ inline void StoreClusterTile(const ClusterBlock& block, const float* shared, int thread,
                                        const Epilogue<typename Tile::Types>& epilogue,
                                        const Matrix<typename Tile::Types::C>& c,
                                        const TileOffset& offset) {
  const auto* const sums = reinterpret_cast<const float4*>(shared);
  constexpr uint32_t kVectors = Tile::kBlockM * Tile::kBlockN / kVector;
  const uint32_t end = block.End(kVectors);
#pragma unroll 1
  for (uint32_t number = block.Begin(kVectors) + static_cast<uint32_t>(thread); number < end;
       number += Tile::kThreads) {
    float four[kVector] = {};
#pragma unroll 8
    for (uint32_t rank = 0; rank < block.blocks; ++rank) {
      AddExchanged(VectorOfBlock(sums + number, rank), four);
    }
    StoreVector<Tile>(four, static_cast<int>(number), epilogue, c, offset);
  }
}

// Returns the number of k steps at the beginning of a unit that end a tile of the unit before.
__device__ inline uint32_t TailSteps(const StreamKSchedule& schedule, uint32_t unit) {
  const uint32_t in_tile = schedule.FirstStep(unit) % schedule.steps_per_tile;
  return in_tile == 0 ? 0 : schedule.steps_per_tile - in_tile;
}

// Returns the unit whose tail a cluster computes: the longest tails first. Clusters begin in their
// order, on multiprocessors that are free, and those are free first that had the least to do beside
// the longest tail. `shared` has room for all units, and one element more.
template <typename Tile>
__device__ inline uint32_t UnitOfTail(const StreamKSchedule& schedule, uint32_t cluster,
                                      uint32_t* shared) {
  // No two keys are equal: of tails of one length, the first unit's is the largest. They fit 32
  // bits, since all split tiles' steps do.
  const uint32_t units = schedule.units;
  for (uint32_t unit = threadIdx.x; unit < units; unit += Tile::kThreads) {
    shared[unit] = TailSteps(schedule, unit) * units + (units - 1 - unit);
  }
  __syncthreads();
  // The first warp finds the key that `cluster` others are larger than, bit by bit. All blocks
  // comparing each key with all others takes 130 us at 528 units on an H100.
  if (threadIdx.x < kWarpSize) {
    uint32_t key = 0;
    for (uint32_t bit = 1U << (31 - __clz(schedule.steps_per_tile * units)); bit > 0; bit /= 2) {
      uint32_t not_less = 0;
      for (uint32_t first = 0; first < units; first += kWarpSize) {
        const uint32_t unit = first + threadIdx.x;
        not_less += __popc(__ballot_sync(~0U, unit < units && shared[unit] >= (key | bit)));
      }
      if (not_less > cluster) key |= bit;
    }
    if (threadIdx.x == 0) shared[units] = units - 1 - key % units;
  }
  __syncthreads();
  const uint32_t unit = shared[units];
  __syncthreads();
  return unit;
}

// Sets `work` to the index-th piece of work of a unit, as FindWorkTile() does; where `head_steps`
// is not 0, to the one piece that each unit and each tail is.
__device__ inline bool FindClusterWork(const StreamKSchedule& schedule, uint32_t head_steps,
                                       bool tails, uint32_t unit, uint32_t index, WorkTile* work) {
  if (head_steps == 0) return FindWorkTile(schedule, unit, index, work);
  *work = {unit, tails ? head_steps : 0, tails ? schedule.steps_per_tile - head_steps : head_steps};
  return index == 0;
}

// Cluster i computes the tiles that work unit i begins or, where `tails`, the tile that a unit
// ends.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    ClusterSplit(Gemm<typename Tile::Types> gemm, StreamKSchedule schedule, uint32_t cluster_blocks,
                 uint32_t head_steps, bool tails) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  if (!tails) LetNextKernelBegin();
  const uint32_t cluster = blockIdx.x / cluster_blocks;
  const uint32_t unit =
      tails && head_steps == 0
          ? UnitOfTail<Tile>(schedule, cluster, reinterpret_cast<uint32_t*>(memory))
          : cluster;
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindClusterWork(schedule, head_steps, tails, unit, i, &work); ++i) {
    if ((work.first_step > 0) != tails) continue;
    {
      const ClusterBlock block = {blockIdx.x % cluster_blocks, cluster_blocks};
      const uint32_t first = block.Begin(work.steps);
      if (block.rank == 0) {
        PrefetchTile<Tile>(gemm, schedule.order.PlaceOf<Tile>(work.tile),
                           static_cast<int>(threadIdx.x));
      }
      Accumulators<Tile> accumulators;
      ComputeTile<Tile, kLayoutA, kLayoutB>(gemm, schedule.order.PlaceOf<Tile>(work.tile),
                                            {static_cast<int>(work.first_step + first),
                                             static_cast<int>(block.End(work.steps) - first)},
                                            shared, accumulators);
      KeepPartialSums(shared, static_cast<int>(threadIdx.x), accumulators);
    }
    SyncCluster();
    FindClusterWork(schedule, head_steps, tails, Reload(unit), i, &work);
    const TilePlace place = schedule.order.PlaceOf<Tile>(work.tile);
    auto c = gemm.c;
    c.data += place.index * gemm.stride_c;
    auto epilogue = gemm.epilogue;
    if (tails) {
      WaitForPreviousKernel();
      epilogue.beta = 1;
    }
    StoreClusterTile<Tile>({Reload(blockIdx.x) % cluster_blocks, cluster_blocks}, shared,
                           static_cast<int>(threadIdx.x), epilogue, c, place.offset);
    SyncCluster();  // The others have read this block's partial sums.
  }
  if (!tails) WaitForPreviousKernel();  // As StreamK() does.
}

// Returns whether this tile's kernels can split among clusters: their code, and the device.
template <typename Tile>
bool CanSplitAmongClusters(const DeviceModel& device) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  (void)device;
  return false;  // There splits go through the workspace.
#else
  constexpr auto kKMajor = OperandLayout::kKMajor;  // Any: all are compiled alike.
  return device.compute_capability >= 90 &&
         IsCompiledForSm90(reinterpret_cast<const void*>(ClusterSplit<Tile, kKMajor, kKMajor>));
#endif
}

// Queues what the plan splits among clusters.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
LaunchStatus LaunchClusterSplit(const Gemm<typename Tile::Types>& gemm, const SplitPlan& plan,
                                const StreamKSchedule& schedule, cudaStream_t stream) {
  const auto head_steps = static_cast<uint32_t>(plan.head_steps);
  const auto launch = [&](int blocks, bool tails, auto launch_clusters) {
    return launch_clusters(blocks, ClusterSplit<Tile, kLayoutA, kLayoutB>,
                           Grid{plan.units * blocks}, Block{Tile::kThreads}, Tile::kSharedBytes,
                           stream, gemm, schedule, static_cast<uint32_t>(blocks), head_steps,
                           tails);
  };
  const auto dependent = [](auto... with) { return LaunchDependentClusters(with...); };
  if (plan.WholeTiles() > 0) {  // Beside them, as StreamK() of stream_k.h.
    RETURN_IF_ERROR(launch(plan.cluster_blocks, /*tails=*/false, dependent));
  } else {
    RETURN_IF_ERROR(launch(plan.cluster_blocks, /*tails=*/false,
                           [](auto... with) { return LaunchClusters(with...); }));
  }
  if (!plan.HasTails()) return LaunchStatus();
  return launch(plan.tail_blocks > 0 ? plan.tail_blocks : plan.cluster_blocks, /*tails=*/true,
                dependent);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_CLUSTER_SPLIT_H_
