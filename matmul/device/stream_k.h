// The kernels and the launch of `stream_k` and its relatives, which differ in their tile policies:
// tiles in the general form, computed as `double_buffered` does, with equal work for all
// multiprocessors (stream_k_schedule.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_
#define STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_

#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/cluster_split.h"
#include "matmul/device/fixup.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"
#include "matmul/tile_limits.h"

// Defines the two functions of a registry line, `function` and `function`WorkspaceBytes, for the
// kernel with this tile policy.
#define STRIDEWISE_STREAM_K(function, Policy)                \
  int64_t function##WorkspaceBytes(const MatMulArgs& args) { \
    return StreamKWorkspaceBytes<BlockTile<Policy>>(args);   \
  }                                                          \
  LaunchStatus function(const MatMulArgs& args) { return LaunchStreamK<BlockTile<Policy>>(args); }

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

// Stores a whole tile in C. `shared` as for StoreTile().
template <typename Tile>
__device__ inline void StoreWholeTile(const Gemm<typename Tile::Types>& gemm,
                                      const TilePlace& place, float* shared, int thread,
                                      Accumulators<Tile>& accumulators) {
  auto c = gemm.c;
  c.data += place.index * gemm.stride_c;
  if constexpr (Tile::kWarpsAlongK == 1) {
    StoreTile(accumulators, gemm.epilogue, shared, c, place.offset, thread);
  } else if (!IsMadeOfVectors<typename Tile::Types::C>(c)) {
    StoreSlices(accumulators, gemm.epilogue, shared, c, place.offset, thread);
  } else {
    ReduceSlices(shared, thread, accumulators, [&](int number, const float* four) {
      StoreVector<Tile>(four, number, gemm.epilogue, c, place.offset);
    });
  }
}

// Block i computes work unit i of the split tiles. Begins during the kernel of the whole tiles,
// where multiprocessors have nothing left to do: neither touches what the other one writes.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    StreamK(Gemm<typename Tile::Types> gemm, StreamKSchedule schedule) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindWorkTile(schedule, blockIdx.x, i, &work); ++i) {
    Accumulators<Tile> accumulators;
    ComputeTile<Tile, kLayoutA, kLayoutB>(
        gemm, schedule.order.PlaceOf<Tile>(work.tile),
        {static_cast<int>(work.first_step), static_cast<int>(work.steps)}, shared, accumulators);

    const auto thread = static_cast<int>(Reload(threadIdx.x));
    const uint32_t unit = Reload(blockIdx.x);
    FindWorkTile(schedule, unit, i, &work);
    if (work.steps == schedule.steps_per_tile) {
      StoreWholeTile(gemm, schedule.order.PlaceOf<Tile>(work.tile), shared, thread, accumulators);
    } else {
      StorePartialSums(schedule, work.tile, unit, shared, thread, accumulators);
    }
    __syncthreads();
  }
  WaitForPreviousKernel();  // What waits for this kernel's end waits for the whole tiles, too.
}

// Block i computes the i-th whole tile. A kernel of its own: without the loop over work the
// compiler finds a better order for the main loop, 2 % faster.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    WholeTiles(Gemm<typename Tile::Types> gemm, StreamKSchedule schedule) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  LetNextKernelBegin();
  const TilePlace place = schedule.order.PlaceOf<Tile>(schedule.split_tiles + blockIdx.x);
  PrefetchTile<Tile>(gemm, place, static_cast<int>(threadIdx.x));
  Accumulators<Tile> accumulators;
  ComputeTile<Tile, kLayoutA, kLayoutB>(gemm, place, {0, static_cast<int>(schedule.steps_per_tile)},
                                        shared, accumulators);
  StoreWholeTile(gemm, place, shared, static_cast<int>(threadIdx.x), accumulators);
}

template <typename Tile>
SplitPlan PlanFor(const MatMulArgs& args) {
  return PlanSplit<Tile>(GemmOf<typename Tile::Types>(args), args.batch, DeviceOf(args));
}

template <typename Tile>
int64_t StreamKWorkspaceBytes(const MatMulArgs& args) {
  return PlanFor<Tile>(args).WorkspaceBytes();
}

template <typename Tile>
LaunchStatus LaunchStreamK(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckTileLd(args));
  const auto gemm = GemmOf<typename Tile::Types>(args);
  SplitPlan plan = PlanFor<Tile>(args);
  if (args.workspace_bytes < plan.WorkspaceBytes()) {
    const DeviceModel device = DeviceOf(args);
    if (CanSplitAmongClusters<Tile>(device)) {
      plan = PlanClusterSplit<Tile>(gemm, args.batch, device).plan;
    } else {
      plan.SplitNothing();
    }
  }
  const StreamKSchedule schedule = plan.ScheduleIn(args.workspace);
  RETURN_IF_ERROR(ForLayouts(args, [&](auto layout_a, auto layout_b) {
    RETURN_IF_ERROR(Launch(WholeTiles<Tile, layout_a(), layout_b()>, Grid{plan.WholeTiles()},
                           Block{Tile::kThreads}, Tile::kSharedBytes, args.stream, gemm, schedule));
    if (plan.cluster_blocks > 0) {
      return LaunchClusterSplit<Tile, layout_a(), layout_b()>(gemm, plan, schedule, args.stream);
    }
    const auto kernel = StreamK<Tile, layout_a(), layout_b()>;
    const Grid grid{plan.units};
    const Block block{Tile::kThreads};
    return plan.WholeTiles() > 0
               ? LaunchDependent(kernel, grid, block, Tile::kSharedBytes, args.stream, gemm,
                                 schedule)
               : Launch(kernel, grid, block, Tile::kSharedBytes, args.stream, gemm, schedule);
  }));
  if (plan.cluster_blocks > 0) return LaunchStatus();
  return LaunchFixup<Tile>(gemm, plan, schedule, args.stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_STREAM_K_H_
