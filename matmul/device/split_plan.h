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

namespace stridewise {

struct SplitPlan {
  int64_t tiles = 0;      // The tiles of one multiplication.
  int64_t all_tiles = 0;  // The tiles of the batch.
  int64_t steps_per_tile = 0;
  int64_t units = 0;
  int64_t split_tiles = 0;
  int64_t tile_bytes = 0;

  int64_t WholeTiles() const { return all_tiles - split_tiles; }

  int64_t WorkspaceBytes() const { return 2 * units * tile_bytes; }

  void SplitNothing() { units = split_tiles = 0; }

  StreamKSchedule ScheduleIn(void* workspace) const {
    const int64_t steps = split_tiles * steps_per_tile;
    return {static_cast<uint32_t>(tiles),
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

// Returns the plan of a call on the device: it splits the tiles of the last round where that round
// then takes less time, the cost of splitting included.
template <typename Tile>
SplitPlan PlanSplit(const Gemm<typename Tile::Types>& gemm, int64_t batch,
                    const DeviceModel& device) {
  SplitPlan plan;
  plan.tiles = TileCount<Tile>(gemm.c);
  plan.all_tiles = plan.tiles * batch;
  plan.steps_per_tile = CeilDiv(gemm.k, Tile::kBlockK);
  plan.tile_bytes = Tile::kTileBytes;
  const int64_t slots = ResidentBlocks<Tile>(device);
  plan.split_tiles = plan.all_tiles % slots;
  const int64_t steps = plan.split_tiles * plan.steps_per_tile;
  constexpr int64_t kMinStepsPerUnit = 2;
  plan.units = std::min(slots, steps / kMinStepsPerUnit);
  // Unsplit, the last round takes a tile's time, however few tiles it has. Steps are counted in 32
  // bits, also those of the tile behind the last unit.
  const bool worth_it = plan.units > 0 &&
                        steps + plan.steps_per_tile <= std::numeric_limits<uint32_t>::max() &&
                        static_cast<double>(steps) / static_cast<double>(plan.units) +
                                device.split_cost_factor * Tile::kSplitCost <
                            static_cast<double>(plan.steps_per_tile);
  if (!worth_it) plan.SplitNothing();
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_PLAN_H_
