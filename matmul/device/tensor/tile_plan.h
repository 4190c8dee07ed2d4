// The tiles of TensorProduct, and how long a product is expected to take with each: the constants
// are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/off_lines.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/vector_access.h"
#include "matmul/rows.h"

namespace stridewise {

// A tile of TensorProduct, and what it costs in microseconds. Without clusters there are no blocks
// to spare where the rows of C are an odd number of tiles, and no partner to wait for; with them
// the L2 is read less.
struct TensorTileCost {
  int cols;
  int cluster;
  double fixed;
  double tile;  // A round of tiles.
  double step;
  double full;   // More for a step where all multiprocessors load.
  double store;  // More for 1000 elements of C that the TMA cannot store.
  int rows = 128;
};
constexpr TensorTileCost kTensorTileCosts[] = {
    {256, 2, 6.33, 2.72, 0.555, 0.161, 0.0727},   {256, 1, 6.71, 2, 0.525, 0.266, 0.0726},
    {192, 2, 6.83, 2.03, 0.422, 0.147, 0.0841},   {192, 1, 6.12, 2.07, 0.385, 0.312, 0.123},
    {128, 2, 7.38, 0.944, 0.267, 0.227, 0.0632},  {128, 1, 6.84, 1.15, 0.257, 0.286, 0.0601},
    {64, 1, 6.9, 0.543, 0.146, 0.246, 0.0919},    {192, 1, 6.8, 1.27, 0.179, 0.24, 0.186, 64},
    {128, 1, 6.56, 0.999, 0.14, 0.14, 0.108, 64}, {64, 1, 6.63, 0.446, 0.111, 0.0841, 0.191, 64}};
// Where both extents of C are at least kLargeExtent, neighbours find in the L2 what they share, and
// blocks without clusters lose less than the other constants say: 512 x 4096 x 16384 takes 95 us in
// 128 x 128 on an H100, where these say 93 and those above 119. Fitted to squares of 1024 to 4096.
// At 8192 they choose 192 columns, which the sweep on an H100 has at .974 of cuBLASLt, where the
// clusters of 256 columns that the others choose had .986.
constexpr int64_t kLargeExtent = 512;
constexpr int64_t kLargestFitted = 4096;
inline bool IsLargeProduct(const MatMulArgs& args) {
  const int64_t extent = std::min(args.m, args.n);
  return extent >= kLargeExtent && extent <= kLargestFitted;
}
constexpr TensorTileCost kLargeTileCosts[] = {
    {256, 2, 7.88, 1.76, 0.55, 0.0974, 0.0645},     {256, 1, 7.29, 1.75, 0.552, 0.0913, 0.07},
    {192, 2, 6.63, 1.59, 0.427, 0.0655, 0.101},     {192, 1, 7.09, 1.18, 0.423, 0.0633, 0.123},
    {128, 2, 7.35, 0.741, 0.293, 0.0794, 0.0774},   {128, 1, 6.44, 0.922, 0.278, 0.069, 0.082},
    {64, 1, 6.25, 0.27, 0.118, 0.181, 0.121},       {192, 1, 7.05, 0.787, 0.201, 0.0949, 0.174, 64},
    {128, 1, 6.89, 0.61, 0.143, 0.0681, 0.125, 64}, {64, 1, 6.36, 0.477, 0.11, 0.0512, 0.167, 64}};

// Returns whether the TMA can address C, as HasStoreMap() does of its type.
inline bool TmaAddressesC(const MatMulArgs& args) {
  return HasRowsOfVectors(args, kVectorBytes / ElementBytes(args.c.type));
}

// The rows or columns of decoding.
constexpr int64_t kFewLines = 32;

// Returns whether tensor_tile has a tile for the call: three panels of MN-major B cannot be divided
// by two blocks, and one consumer keeps too few loads under way for few rows or columns.
inline bool HasTensorTile(const MatMulArgs& args, const TensorTileCost& tile) {
  if (tile.rows < 128) return std::min(args.m, args.n) > kFewLines;
  return tile.cols != 192 || tile.cluster == (args.b.transposed ? 2 : 1);
}

// Returns the microseconds in which a tile of C leaves registers beyond a store by the TMA: row by
// row (tensor_rows.h), or where beta is not 0 after the TMA has loaded C (tensor_add.h), which not
// all tiles can do, or one by one.
inline double TileStoreUs(const MatMulArgs& args, int64_t rows, const TensorTileCost& tile) {
  constexpr double kAdded = 0.12;  // For 1000 elements.
  constexpr double kOneByOne = 1.0;
  // With few steps there is nothing beside the stores.
  constexpr int64_t kFewSteps = 2 * kTensorStep;  // Of k.
  constexpr double kAlone = 1.6;
  const auto elements =
      static_cast<double>(std::min(args.m, rows) * std::min<int64_t>(args.n, tile.cols));
  const bool addresses = TmaAddressesC(args);
  if (args.beta == 0) {
    return addresses ? 0 : elements / 1000 * tile.store * (args.k <= kFewSteps ? kAlone : 1);
  }
  const bool adds = addresses && tile.cluster == 1 && tile.cols % 128 == 0 && tile.rows == 128;
  return elements / 1000 * (adds ? kAdded : kOneByOne);
}

// Returns the time of two things that overlap: a fifth more than either where both take as long.
inline double Together(double us, double other_us) {
  const double larger = std::max(us, other_us);
  const double part = larger > 0 ? std::min(us, other_us) / larger : 0;
  return larger * std::sqrt(std::sqrt(1 + part * part * part * part));
}

// Returns the microseconds of TensorProduct with this tile, where `rows` x `cols` are the extents
// of what is divided into tiles: C, or C transposed.
inline double TensorTileUs(const MatMulArgs& args, const DeviceModel& device,
                           const TensorTileCost& cost, int64_t rows, int64_t cols) {
  const int64_t clusters = ClustersAtOnce(cost.cluster, 1, device.multiprocessors);
  const int64_t tiles = CeilDiv(rows, int64_t{cost.rows} * cost.cluster) *
                        CeilDiv(cols, int64_t{cost.cols}) * args.batch;
  const auto rounds = static_cast<double>(CeilDiv(tiles, clusters));
  const double fill = static_cast<double>(tiles) / (rounds * static_cast<double>(clusters));
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  // Few rows in tiles of many columns, of which there are few, reach less of memory's rate:
  // 32x16384x4096 took 56 us on an H100, and 52 in the narrow tiles of its transpose.
  const double memory = rows > kFewLines ? 1 : 1.12;
  return cost.fixed + Together(memory * MemoryUs(args, device),
                               rounds * (cost.tile + steps * (cost.step + cost.full * fill) +
                                         TileStoreUs(args, cost.rows, cost)));
}

// Returns the tile that tensor_tile computes.
inline TensorPlan PlanTensorTile(const MatMulArgs& args, const DeviceModel& device) {
  TensorPlan best;
  for (const TensorTileCost& cost : IsLargeProduct(args) ? kLargeTileCosts : kTensorTileCosts) {
    if (!HasTensorTile(args, cost)) continue;
    TensorPlan plan = {cost.cols, 1, cost.cluster, false, 0, cost.rows};
    plan.us = CorrectedTiles(
        TensorPredicted::kTile, args, device, plan,
        std::max(TensorTileUs(args, device, cost, args.m, args.n), OffLinesUs(args, plan, device)));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_PLAN_H_
