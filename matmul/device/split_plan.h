// Which tiles of a call are split along k, and into how many work units.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_order.h"
#include "matmul/split_cost.h"

namespace stridewise {

struct SplitPlan {
  int64_t tile_rows = 0, tile_cols = 0;  // Of one multiplication.
  int64_t all_tiles = 0;                 // The tiles of the batch.
  int64_t steps_per_tile = 0;
  int64_t units = 0;
  int64_t split_tiles = 0;
  int64_t tile_bytes = 0;
  int cluster_blocks = 0;  // Of the cluster that computes a unit; 0: a unit is for one block.
  // Where not 0, a unit is the first head_steps of a tile, and another cluster of this number of
  // blocks computes its other steps.
  int tail_blocks = 0;
  int64_t head_steps = 0;

  int64_t WholeTiles() const { return all_tiles - split_tiles; }

  int64_t WorkspaceBytes() const { return cluster_blocks > 0 ? 0 : 2 * units * tile_bytes; }

  // Returns whether a cluster's unit ends a tile that another one begins: not where each has the
  // same number of whole tiles. A kernel for tails that are not there would wait for nothing, and
  // so could end before the one that it follows. REQUIRES: a tile has two steps or more.
  bool HasTails() const {
    return cluster_blocks > 0 && (tail_blocks > 0 || split_tiles % units != 0);
  }

  void SplitNothing() { units = split_tiles = cluster_blocks = tail_blocks = 0; }

  StreamKSchedule ScheduleIn(void* workspace) const {
    const int64_t steps = split_tiles * steps_per_tile;
    return {TileOrder(tile_rows, tile_cols),
            static_cast<uint32_t>(steps_per_tile),
            static_cast<uint32_t>(split_tiles),
            static_cast<uint32_t>(units),
            static_cast<uint32_t>(units == 0 ? 0 : steps / units),
            static_cast<uint32_t>(units == 0 ? 0 : steps % units),
            static_cast<float4*>(workspace)};
  }
};

// Returns the number of blocks of this tile that the device holds at once.
template <typename Tile>
int64_t ResidentBlocks(const DeviceModel& device) {
  return int64_t{device.multiprocessors} * Tile::kBlocksPerMultiprocessor;
}

// Returns the plan of a call that splits nothing.
template <typename Tile>
SplitPlan PlanWholeTiles(const Gemm<typename Tile::Types>& gemm, int64_t batch) {
  SplitPlan plan;
  plan.tile_rows = CeilDiv(gemm.c.rows, Tile::kBlockM);
  plan.tile_cols = CeilDiv(gemm.c.cols, Tile::kBlockN);
  plan.all_tiles = plan.tile_rows * plan.tile_cols * batch;
  plan.steps_per_tile = CeilDiv(gemm.k, Tile::kBlockK);
  plan.tile_bytes = Tile::kTileBytes;
  return plan;
}

// Returns the plan of a call on the device: it splits the tiles of the last round where that round
// then takes less time, the cost of splitting included.
template <typename Tile>
SplitPlan PlanSplit(const Gemm<typename Tile::Types>& gemm, int64_t batch,
                    const DeviceModel& device) {
  SplitPlan plan = PlanWholeTiles<Tile>(gemm, batch);
  const int64_t slots = ResidentBlocks<Tile>(device);
  plan.split_tiles = plan.all_tiles % slots;
  const int64_t steps = plan.split_tiles * plan.steps_per_tile;
  constexpr int64_t kMinStepsPerUnit = 2;
  plan.units = std::min(slots, steps / kMinStepsPerUnit);
  // Steps are counted in 32 bits, also those of the tile behind the last unit.
  const bool worth_it =
      plan.units > 0 && steps + plan.steps_per_tile <= std::numeric_limits<uint32_t>::max() &&
      SplittingPays({static_cast<double>(CeilDiv(plan.split_tiles, device.multiprocessors)),
                     static_cast<double>(CeilDiv(plan.units, device.multiprocessors)),
                     static_cast<double>(Tile::kBlocksPerMultiprocessor),
                     static_cast<double>(plan.steps_per_tile),
                     static_cast<double>(steps) / static_cast<double>(plan.units),
                     static_cast<double>(plan.units) / static_cast<double>(slots)},
                    Tile::kSplitCost, device.split_cost_factor);
  if (!worth_it) plan.SplitNothing();
  return plan;
}

struct TimedSplitPlan {
  SplitPlan plan;
  double steps;  // The time of all rounds, in k steps of one block.
};

// Returns the plan of a call without workspace: it splits the tiles of the last round among
// clusters (cluster_split.h) where that round then takes less time, the cost of splitting included.
template <typename Tile>
TimedSplitPlan PlanClusterSplit(const Gemm<typename Tile::Types>& gemm, int64_t batch,
                                const DeviceModel& device) {
  SplitPlan plan = PlanWholeTiles<Tile>(gemm, batch);
  const int64_t slots = ResidentBlocks<Tile>(device);
  const int64_t last_tiles = plan.all_tiles % slots;
  const ClusterPlan clusters = PlanClusters(
      {last_tiles, plan.steps_per_tile, Tile::kBlocksPerMultiprocessor, device.multiprocessors,
       device.compute_capability, device.split_cost_factor * Tile::kClusterCost});
  if (clusters.units > 0) {
    plan.units = clusters.units;
    plan.split_tiles = last_tiles;
    plan.cluster_blocks = clusters.blocks;
    plan.tail_blocks = clusters.tail_blocks;
    plan.head_steps = clusters.head_steps;
  }
  const int64_t whole_steps = plan.all_tiles / slots * plan.steps_per_tile;
  return {plan, static_cast<double>(whole_steps) + clusters.steps};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_PLAN_H_
