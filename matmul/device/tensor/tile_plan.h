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
    {256, 2, 7.24, 2.40, 0.579, 0.087, 0.094},     {256, 1, 5.97, 3.19, 0.528, 0.176, 0.090},
    {192, 2, 7.12, 1.73, 0.439, 0.091, 0.122},     {192, 1, 7.10, 2.04, 0.355, 0.173, 0.123},
    {128, 2, 7.08, 1.42, 0.269, 0.139, 0.086},     {128, 1, 7.04, 1.31, 0.235, 0.205, 0.075},
    {64, 1, 6.90, 0.87, 0.170, 0.121, 0.096},      {192, 1, 6.45, 1.36, 0.240, 0.095, 0.123, 64},
    {128, 1, 5.88, 0.93, 0.188, 0.074, 0.075, 64}, {64, 1, 6.66, 0.55, 0.111, 0.044, 0.096, 64}};
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
    {256, 2, 8.27, 1.86, 0.545, 0.080, 0.094},     {256, 1, 8.00, 1.80, 0.539, 0.092, 0.090},
    {192, 2, 7.78, 1.37, 0.394, 0.085, 0.122},     {192, 1, 7.14, 1.35, 0.406, 0.068, 0.123},
    {128, 2, 7.34, 1.03, 0.254, 0.099, 0.086},     {128, 1, 5.30, 1.37, 0.276, 0.062, 0.075},
    {64, 1, 5.46, 0.60, 0.216, 0.067, 0.096},      {192, 1, 7.43, 1.15, 0.181, 0.101, 0.123, 64},
    {128, 1, 5.60, 0.90, 0.170, 0.080, 0.075, 64}, {64, 1, 5.66, 0.59, 0.112, 0.060, 0.096, 64}};

// Returns whether the TMA can address C, as HasStoreMap() does of its type.
inline bool TmaAddressesC(const MatMulArgs& args) {
  const int64_t vector = kVectorBytes / ElementBytes(args.c.type);
  return args.c.ld % vector == 0 && args.n % vector == 0 &&
         (args.batch == 1 || args.c.stride % vector == 0);
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
    plan.us =
        std::max(TensorTileUs(args, device, cost, args.m, args.n), OffLinesUs(args, plan, device));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_PLAN_H_
