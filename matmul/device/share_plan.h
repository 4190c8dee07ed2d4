// Which tiles are shared, and by how many blocks.

#ifndef STRIDEWISE_MATMUL_DEVICE_SHARE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_SHARE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/device/shares.h"

namespace stridewise {

struct SharePlan {
  int64_t tiles = 0;  // Of one multiplication.
  int64_t all_tiles = 0;
  int64_t units_of_tile = 0;
  int64_t sharers = 0;
  int64_t cut_tiles = 0;
  int64_t tile_bytes = 0;

  int64_t WholeTiles() const { return all_tiles - cut_tiles; }

  int64_t WorkspaceBytes() const { return 2 * sharers * tile_bytes; }

  void ShareNothing() { sharers = cut_tiles = 0; }

  Shares WithWorkspace(void* workspace) const {
    const int64_t units = cut_tiles * units_of_tile;
    return {static_cast<uint32_t>(tiles),
            static_cast<uint32_t>(units_of_tile),
            static_cast<uint32_t>(cut_tiles),
            static_cast<uint32_t>(sharers),
            static_cast<uint32_t>(sharers == 0 ? 0 : units / sharers),
            static_cast<uint32_t>(sharers == 0 ? 0 : units % sharers),
            static_cast<float4*>(workspace)};
  }
};

// For `slots` blocks at one time. `cost` is what sharing takes, in units: the partial sums' way to
// memory and back, and a second kernel.
inline SharePlan PlanShares(int64_t tiles, int64_t batch, int64_t units_of_tile, int64_t tile_bytes,
                            int64_t slots, double cost) {
  SharePlan plan;
  plan.tiles = tiles;
  plan.all_tiles = tiles * batch;
  plan.units_of_tile = units_of_tile;
  plan.tile_bytes = tile_bytes;
  plan.cut_tiles = plan.all_tiles % slots;
  const int64_t units = plan.cut_tiles * units_of_tile;
  constexpr int64_t kLeastUnits = 2;
  plan.sharers = std::min(slots, units / kLeastUnits);
  // Else the last round takes a tile's time, however few tiles it has. Units are counted in 32
  // bits, tiles too in which the last share may end.
  const bool worth_it = plan.sharers > 0 &&
                        units + units_of_tile <= std::numeric_limits<uint32_t>::max() &&
                        static_cast<double>(units) / static_cast<double>(plan.sharers) + cost <
                            static_cast<double>(units_of_tile);
  if (!worth_it) plan.ShareNothing();
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SHARE_PLAN_H_
