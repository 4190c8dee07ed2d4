// Products of 17 to 32 rows or columns, of operands of any layout that the TMA loads as they lie:
// `tma_128x32` and `tma_32x128`. matmul/device/tma_tile.h is what a thread does with a tile.
// Tiles of 64x64, 64x128 and 128x128 would be as easy, and are of no use: of 673 random products of
// such operands on an H100 three took 3 to 4 % less than with the best of the other kernels.

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/kernel_state.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/cluster_split.h"
#include "matmul/device/fixup.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/quarter_maps.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_policies.h"
#include "matmul/device/tma_tile.h"
#include "matmul/tma_clusters.h"

namespace stridewise {
namespace {

template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    TmaTiles(const __grid_constant__ TmaOperands operands, Gemm<typename Tile::Types> gemm,
             StreamKSchedule schedule, uint32_t whole_tiles) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  TmaThread<Tile, kLayoutA, kLayoutB> self(shared);
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindPersistentWork(schedule, whole_tiles, i, &work); ++i) {
    const TilePlace place = schedule.order.PlaceOf<Tile>(work.tile);
    const auto thread = static_cast<int>(threadIdx.x);
    Accumulators<Tile> accumulators;
    self.Multiply(operands, place.offset, static_cast<int>(place.index),
                  {static_cast<int>(work.first_step), static_cast<int>(work.steps)}, accumulators);
    if (work.steps == schedule.steps_per_tile) {
      StoreWholeTile(gemm, place, self.out(), thread, accumulators);
    } else {
      StorePartialSums(schedule, work.tile, blockIdx.x, self.out(), thread, accumulators);
    }
    FenceForTma();
    __syncthreads();
  }
#endif
}

// The k steps of each tile that a kernel computes.
struct StepsOfTile {
  uint32_t first;
  uint32_t count;
};

// Without a workspace: the blocks of a cluster divide the k of a tile, and add their sums in shared
// memory. Of the schedule only the order is used. What begins with a later step than the first is
// added to what the kernel before, of which it is LaunchDependent(), stores.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    TmaClusterTiles(const __grid_constant__ TmaOperands operands, Gemm<typename Tile::Types> gemm,
                    StreamKSchedule schedule, uint32_t all_tiles, uint32_t cluster_blocks,
                    StepsOfTile steps) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  TmaThread<Tile, kLayoutA, kLayoutB> self(shared);
  const ClusterBlock block = {blockIdx.x % cluster_blocks, cluster_blocks};
  LetNextKernelBegin();
#pragma unroll 1
  for (uint32_t tile = blockIdx.x / cluster_blocks; tile < all_tiles;
       tile += gridDim.x / cluster_blocks) {
    const TilePlace place = schedule.order.PlaceOf<Tile>(tile);
    const auto thread = static_cast<int>(threadIdx.x);
    {
      const uint32_t first = block.Begin(steps.count);
      Accumulators<Tile> accumulators;
      self.Multiply(
          operands, place.offset, static_cast<int>(place.index),
          {static_cast<int>(steps.first + first), static_cast<int>(block.End(steps.count) - first)},
          accumulators);
      KeepPartialSums(self.out(), thread, accumulators);
    }
    SyncCluster();
    auto c = gemm.c;
    c.data += place.index * gemm.stride_c;
    auto epilogue = gemm.epilogue;
    if (steps.first > 0) {
      WaitForPreviousKernel();
      epilogue.beta = 1;
    }
    StoreClusterTile<Tile>(block, self.out(), thread, epilogue, c, place.offset);
    FenceForTma();
    SyncCluster();  // The others have read this block's partial sums.
  }
#endif
}

// What the launch needs and the arguments and the device say.
template <typename Tile>
struct TmaPlan {
  TmaPlan(const MatMulArgs& args, const DeviceModel& device)
      : gemm(GemmOf<typename Tile::Types>(args)),
        count_a(args.batch, args.a.stride),
        count_b(args.batch, args.b.stride),
        split(PlanSplit<Tile>(gemm, args.batch, device)),
        slots(ResidentBlocks<Tile>(device)) {}

  Gemm<typename Tile::Types> gemm;
  MatrixCount count_a, count_b;
  SplitPlan split;
  int64_t slots;
};

// Returns whether these kernels take such a call and were built for such a device.
template <typename Tile>
bool TmaTakes(const TmaPlan<Tile>& plan, const MatMulArgs& args) {
  if (plan.gemm.k == 0 || !HasQuarterMaps(args.A<float>(), plan.count_a) ||
      !HasQuarterMaps(args.B<float>(), plan.count_b)) {
    return false;
  }
  constexpr auto kKMajor = OperandLayout::kKMajor;  // Any: all are compiled alike.
  return IsCompiledForSm90(reinterpret_cast<const void*>(TmaTiles<Tile, kKMajor, kKMajor>));
}

// Runs what the TMA cannot address.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("stream_k_32x64");
  return fallback;
}

template <typename Tile>
int64_t TmaWorkspaceBytes(const MatMulArgs& args) {
  const TmaPlan<Tile> plan(args, DeviceOf(args));
  return TmaTakes(plan, args) ? plan.split.WorkspaceBytes() : Fallback().workspace_bytes(args);
}

template <typename Tile>
LaunchStatus LaunchTma(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  TmaPlan<Tile> plan(args, device);
  if (!TmaTakes(plan, args)) return Fallback().run(args);
  TmaClusters clusters;
  if (args.workspace_bytes < plan.split.WorkspaceBytes()) {
    plan.split.SplitNothing();
    clusters = PlanTmaClusters(plan.split.all_tiles, plan.split.steps_per_tile,
                               kTmaClusterCost * Tile::kClusterCost, device.multiprocessors);
  }
  const StreamKSchedule schedule = plan.split.ScheduleIn(args.workspace);
  RETURN_IF_ERROR(ForLayouts(args, [&](auto layout_a, auto layout_b) -> LaunchStatus {
    const auto maps = [](const ConstMatrix<float>& matrix, const MatrixCount& count,
                         OperandLayout layout, uint32_t mn) {
      const bool k_major = layout == OperandLayout::kKMajor;
      return QuarterMapsOf(matrix, count, k_major ? mn : Tile::kBlockK,
                           k_major ? Tile::kBlockK : mn,
                           k_major ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE);
    };
    TmaOperands operands = {};
    operands.a_differ = plan.count_a.count > 1;
    operands.b_differ = plan.count_b.count > 1;
    ASSIGN_OR_RETURN(operands.a, maps(args.A<float>(), plan.count_a, layout_a(), Tile::kBlockM));
    ASSIGN_OR_RETURN(operands.b, maps(args.B<float>(), plan.count_b, layout_b(), Tile::kBlockN));
    constexpr Block kBlock = {Tile::kThreads};
    if (clusters.blocks > 1) {
      const int64_t count = std::min(plan.split.all_tiles, clusters.clusters);
      const auto all_steps = static_cast<uint32_t>(plan.split.steps_per_tile);
      const auto launch = [&](auto launch_clusters, int of_cluster, StepsOfTile steps) {
        return launch_clusters(
            of_cluster, TmaClusterTiles<Tile, layout_a(), layout_b()>, Grid{count * of_cluster},
            kBlock, Tile::kSharedBytes, args.stream, operands, plan.gemm, schedule,
            static_cast<uint32_t>(plan.split.all_tiles), static_cast<uint32_t>(of_cluster), steps);
      };
      const auto head = static_cast<uint32_t>(
          HeadSteps(plan.split.steps_per_tile, clusters.blocks, clusters.tail_blocks));
      RETURN_IF_ERROR(
          launch([](auto... with) { return LaunchClusters(with...); }, clusters.blocks, {0, head}));
      if (clusters.tail_blocks == 0) return LaunchStatus();
      return launch([](auto... with) { return LaunchDependentClusters(with...); },
                    clusters.tail_blocks, {head, all_steps - head});
    }
    const int64_t whole_tiles = plan.split.WholeTiles();
    const int64_t blocks = std::max(std::min(whole_tiles, plan.slots), plan.split.units);
    return Launch(TmaTiles<Tile, layout_a(), layout_b()>, Grid{blocks}, kBlock, Tile::kSharedBytes,
                  args.stream, operands, plan.gemm, schedule, static_cast<uint32_t>(whole_tiles));
  }));
  return LaunchFixup<Tile>(plan.gemm, plan.split, schedule, args.stream);
}

using Tile128x32 = TmaTile<TilePolicyTma128x32>;
using Tile32x128 = TmaTile<TilePolicyTma32x128>;

}  // namespace

LaunchStatus MatMulTma128x32(const MatMulArgs& args) { return LaunchTma<Tile128x32>(args); }
int64_t MatMulTma128x32WorkspaceBytes(const MatMulArgs& args) {
  return TmaWorkspaceBytes<Tile128x32>(args);
}

LaunchStatus MatMulTma32x128(const MatMulArgs& args) { return LaunchTma<Tile32x128>(args); }
int64_t MatMulTma32x128WorkspaceBytes(const MatMulArgs& args) {
  return TmaWorkspaceBytes<Tile32x128>(args);
}

}  // namespace stridewise
