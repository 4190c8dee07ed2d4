// The tile of tensor_divided and how long a product is expected to take with it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DIVIDED_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DIVIDED_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/off_lines.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/tile_plan.h"

namespace stridewise {

// The tile: 128 x 256 for each block of a cluster of two.
constexpr int kDividedRows = 256;  // Of a cluster.
constexpr int kDividedCols = 256;

// How the tiles of a product are divided among clusters (tensor_pieces.h).
struct DividedPlan {
  int64_t tiles = 0;
  int64_t clusters = 0;
  double us = 1e30;  // Huge where whole tiles are faster whatever they take.

  // Returns whether the tiles fill more than one round, and the last one not all of it.
  bool IsDivided() const { return tiles > clusters && tiles % clusters != 0; }

  // Returns the first of the tiles that are divided: as many as the clusters and a round's rest.
  int64_t FirstTile() const { return (tiles / clusters - 1) * clusters; }

  // Marks take the first bytes of a workspace, sums the others.
  static constexpr int64_t kMarkBytes = 4096;
  int64_t WorkspaceBytes() const {
    return kMarkBytes + clusters * kDividedRows * kDividedCols * int64_t{sizeof(float)};
  }
};

// Returns the division. The two pieces of a tile more and their sums take as long as some steps:
// with few steps a round that is not full costs less. 8192 x 8192 x 8192, of 15.5 rounds, took 1530
// us on an H200 so and 1567 in whole tiles.
inline DividedPlan PlanTensorDivided(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kSums = 8.5;
  // Where less of a round is saved, clusters that share rows or columns are everywhere along k, and
  // find less of them in the L2: 4096 x 4096 x 16384, of 3.9 rounds, took 749 us and 682.
  constexpr double kLeastSaved = 0.25;
  const TensorTileCost& cost = (IsLargeProduct(args) ? kLargeTileCosts : kTensorTileCosts)[0];
  DividedPlan plan;
  plan.clusters = std::max(1, device.multiprocessors / cost.cluster);
  plan.tiles =
      CeilDiv(args.m, int64_t{kDividedRows}) * CeilDiv(args.n, int64_t{kDividedCols}) * args.batch;
  // Tiles of which most is empty load as much as others: 128256 x 1 x 4096 took 744 us on an H100,
  // and takes 350 by tensor_split.
  constexpr int64_t kLeastExtent = 256;
  if (!plan.IsDivided() || std::min(args.m, args.n) <= kLeastExtent) return plan;
  const double rounds = static_cast<double>(plan.tiles) / static_cast<double>(plan.clusters);
  if (std::ceil(rounds) - rounds < kLeastSaved) return plan;
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  const double us =
      cost.fixed + kSums +
      std::max(MemoryUs(args, device), rounds * (cost.tile + steps * (cost.step + cost.full) +
                                                 TileStoreUs(args, cost.rows, cost)));
  plan.us = Corrected(TensorPredicted::kDivided, args, device, PlannedTiles(),
                      std::max(us, OffLinesUs(args, {cost.cols, 1, cost.cluster}, device)));
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DIVIDED_PLAN_H_
