// How a product is divided for the kernels of tensor cores, and how long each is expected to take:
// the constants are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// Of k, which a step of a kernel multiplies.
constexpr int kTensorStep = 64;

// The tile of a kernel, and the blocks of a cluster that divide its k extent.
struct TensorPlan {
  int cols = 0;
  int split = 1;
  int cluster = 1;          // Of tensor_tile: blocks that share B.
  bool transposed = false;  // Tiles are those of C transposed.
  double us = 1e30;
  int rows = 128;
};

// Returns the microseconds that the bytes of operands and C take.
inline double MemoryUs(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kOfRate = 0.9;
  const double bytes_of_us = kOfRate * 1e3 * device.memory_gbps;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double of_a = m * k * (args.a.stride == 0 ? 1 : batch);
  const double of_b = n * k * (args.b.stride == 0 ? 1 : batch);
  const auto bytes = [](ElementType type) { return static_cast<double>(ElementBytes(type)); };
  return ((of_a + of_b) * bytes(args.a.type) + m * n * batch * bytes(args.c.type)) / bytes_of_us;
}

// Returns whether the TMA can address an operand that is stored as rows x cols.
inline bool TmaTakesOperand(const MatMulInput& input, int64_t rows, int64_t cols, int64_t batch) {
  const ConstMatrix<uint16_t> stored = {static_cast<const uint16_t*>(input.data), rows, cols,
                                        input.ld};
  return HasTensorMap(stored, MatrixCount(batch, input.stride));
}

// Returns whether the kernels that need the TMA take the product, if it takes the operands.
inline bool TmaTakesProduct(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kLeastTile = 64;
  constexpr int64_t kMostSplit = 16;
  return device.compute_capability == 90 && args.k > 0 && args.k <= kMost && args.m <= kMost &&
         args.n <= kMost && static_cast<float>(args.alpha) != 0 &&
         CeilDiv(args.m, kLeastTile) * CeilDiv(args.n, kLeastTile) <=
             kMost / kMostSplit / args.batch;
}

// Returns whether they take the call.
inline bool TmaTakes(const MatMulArgs& args, const DeviceModel& device) {
  const auto takes = [&](const MatMulInput& input, int64_t rows, int64_t cols) {
    return input.transposed ? TmaTakesOperand(input, cols, rows, args.batch)
                            : TmaTakesOperand(input, rows, cols, args.batch);
  };
  return TmaTakesProduct(args, device) && takes(args.a, args.m, args.k) &&
         takes(args.b, args.k, args.n);
}

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
// blocks without clusters lose less than the other constants say. Fitted to squares of 1024 to
// 4096. At 8192 they choose 192 columns, which the sweep on an H100 has at .974 of cuBLASLt, where
// the clusters of 256 columns that the others choose had .986.
constexpr int64_t kLargeExtent = 1024;
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
  const auto elements =
      static_cast<double>(std::min(args.m, rows) * std::min<int64_t>(args.n, tile.cols));
  const bool addresses = TmaAddressesC(args);
  if (args.beta == 0) return addresses ? 0 : elements / 1000 * tile.store;
  const bool adds = addresses && tile.cluster == 1 && tile.cols % 128 == 0 && tile.rows == 128;
  return elements / 1000 * (adds ? kAdded : kOneByOne);
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
  return cost.fixed + std::max(memory * MemoryUs(args, device),
                               rounds * (cost.tile + steps * (cost.step + cost.full * fill) +
                                         TileStoreUs(args, cost.rows, cost)));
}

// Returns the tile that tensor_tile computes.
inline TensorPlan PlanTensorTile(const MatMulArgs& args, const DeviceModel& device) {
  TensorPlan best;
  for (const TensorTileCost& cost : IsLargeProduct(args) ? kLargeTileCosts : kTensorTileCosts) {
    if (!HasTensorTile(args, cost)) continue;
    const double us = TensorTileUs(args, device, cost, args.m, args.n);
    if (us < best.us) best = {cost.cols, 1, cost.cluster, false, us, cost.rows};
  }
  return best;
}

// Returns the split of tensor_general.
inline TensorPlan PlanTensorGeneral(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int kTile = 64;
  constexpr double kFixed = 3.6;
  constexpr double kTileUs = 4.7;
  constexpr double kStep = 1.98;
  constexpr double kCluster = 1.9;
  constexpr double kBlock = 0.37;
  const int64_t steps = CeilDiv(args.k, kTensorStep);
  const int64_t tiles = CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile) * args.batch;
  const int64_t slots = int64_t{device.multiprocessors} * 2;
  TensorPlan best;
  for (const int split : {1, 2, 4, 8}) {
    if (split > 1 && (split > steps || device.compute_capability != 90)) break;
    const auto rounds = static_cast<double>(CeilDiv(tiles * split, slots));
    const double sums = split == 1 ? 0 : kCluster + kBlock * split;
    const double us =
        kFixed + sums + rounds * (kTileUs + static_cast<double>(CeilDiv(steps, split)) * kStep);
    if (us < best.us) best = {kTile, split, 1, false, us};
  }
  return best;
}

// The copies of operands that the TMA cannot address.
constexpr double kPackLaunchUs = 2.0;
constexpr double kPackUsOfByte = 1 / 1.75e6;  // Read and written.

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
