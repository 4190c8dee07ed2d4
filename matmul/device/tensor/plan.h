// How a product is divided for the kernels of tensor cores, and how long each is expected to take:
// the constants are fitted to times measured on an H200 with a cold L2.

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
};

// Returns the microseconds that the bytes of operands and C take.
inline double MemoryUs(const MatMulArgs& args) {
  constexpr double kBytesOfUs = 4.1e6;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double of_a = m * k * (args.a.stride == 0 ? 1 : batch);
  const double of_b = n * k * (args.b.stride == 0 ? 1 : batch);
  const auto bytes = [](ElementType type) { return static_cast<double>(ElementBytes(type)); };
  return ((of_a + of_b) * bytes(args.a.type) + m * n * batch * bytes(args.c.type)) / kBytesOfUs;
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
};
constexpr TensorTileCost kTensorTileCosts[] = {
    {256, 2, 5.53, 2.21, 0.559, 0.081, 0.094}, {256, 1, 4.35, 2.55, 0.554, 0.165, 0.090},
    {192, 2, 5.66, 1.68, 0.425, 0.088, 0.122}, {192, 1, 4.77, 1.92, 0.406, 0.211, 0.123},
    {128, 2, 5.39, 1.42, 0.281, 0.125, 0.086}, {128, 1, 4.79, 1.30, 0.275, 0.258, 0.075},
    {64, 1, 4.48, 0.97, 0.229, 0.127, 0.096}};
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
    {256, 2, 5.00, 2.21, 0.559, 0.081, 0.094}, {256, 1, 4.35, 2.50, 0.554, 0.090, 0.090},
    {192, 2, 5.66, 1.68, 0.425, 0.088, 0.122}, {192, 1, 4.60, 1.50, 0.406, 0.070, 0.123},
    {128, 2, 5.39, 1.42, 0.281, 0.125, 0.086}, {128, 1, 4.30, 0.90, 0.270, 0.065, 0.075},
    {64, 1, 4.00, 0.60, 0.180, 0.057, 0.096}};

// Returns whether the TMA can address C, as HasStoreMap() does of its type.
inline bool TmaAddressesC(const MatMulArgs& args) {
  const int64_t vector = kVectorBytes / ElementBytes(args.c.type);
  return args.c.ld % vector == 0 && args.n % vector == 0 &&
         (args.batch == 1 || args.c.stride % vector == 0);
}

// Returns whether tensor_tile has a tile for the call: three panels of MN-major B cannot be divided
// by two blocks.
inline bool HasTensorTile(const MatMulArgs& args, const TensorTileCost& tile) {
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
  const bool adds = addresses && tile.cluster == 1 && tile.cols % 128 == 0;
  return elements / 1000 * (adds ? kAdded : kOneByOne);
}

// Returns the microseconds of TensorProduct with this tile, where `rows` x `cols` are the extents
// of what is divided into tiles: C, or C transposed.
inline double TensorTileUs(const MatMulArgs& args, const DeviceModel& device,
                           const TensorTileCost& cost, int64_t rows, int64_t cols) {
  constexpr int kRows = 128;
  const int64_t clusters = std::max(1, device.multiprocessors / cost.cluster);
  const int64_t tiles =
      CeilDiv(rows, int64_t{kRows} * cost.cluster) * CeilDiv(cols, int64_t{cost.cols}) * args.batch;
  const auto rounds = static_cast<double>(CeilDiv(tiles, clusters));
  const double fill = static_cast<double>(tiles) / (rounds * static_cast<double>(clusters));
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  return cost.fixed +
         std::max(MemoryUs(args), rounds * (cost.tile + steps * (cost.step + cost.full * fill) +
                                            TileStoreUs(args, kRows, cost)));
}

// Returns the tile of 128 rows that tensor_tile computes.
inline TensorPlan PlanTensorTile(const MatMulArgs& args, const DeviceModel& device) {
  TensorPlan best;
  for (const TensorTileCost& cost : IsLargeProduct(args) ? kLargeTileCosts : kTensorTileCosts) {
    if (!HasTensorTile(args, cost)) continue;
    const double us = TensorTileUs(args, device, cost, args.m, args.n);
    if (us < best.us) best = {cost.cols, 1, cost.cluster, false, us};
  }
  return best;
}

// Returns the split of tensor_general.
inline TensorPlan PlanTensorGeneral(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int kTile = 64;
  constexpr double kFixed = 3.2;
  constexpr double kTileUs = 3.8;
  constexpr double kStep = 1.6;
  constexpr double kCluster = 1.5;
  constexpr double kBlock = 0.3;
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

// Of a thread of tensor_tiny: steps of k whose loads are under way together.
constexpr int kTinyTogether = 8;

// Returns the warps of tensor_tiny that divide k: as many as load all of it together.
inline int TensorTinySlices(int64_t k) {
  constexpr int kMost = 8;
  int slices = 1;
  while (slices < kMost && k > slices * kTinyTogether) slices *= 2;
  return slices;
}

// Returns the logarithm of the columns of a warp of tensor_tiny: 32, or fewer where C has few.
inline int TensorTinyLogCols(int64_t n) {
  constexpr int kMost = 5;
  int log_cols = 0;
  while (log_cols < kMost && int64_t{1} << log_cols < n) ++log_cols;
  return log_cols;
}

// Returns the time of tensor_tiny: a warp's k steps, the lines that their loads touch, the trips to
// memory of a thread's k, eight steps together, and the blocks.
inline double TensorTinyUs(const MatMulArgs& args) {
  constexpr double kFixed = 2.84;
  constexpr double kWarpStepsOfUs = 74e3;
  constexpr double kLinesOfUs = 2.0e6;
  constexpr double kTrip = 1.24;
  constexpr double kStepOfRound = 0.045;
  constexpr double kRound = 2.6;
  constexpr int64_t kLanes = 32;
  constexpr int64_t kWarps = 8;
  constexpr double kSlots = 132 * 8;  // Blocks that run at once.
  const int64_t slices = TensorTinySlices(args.k);
  const int64_t cols = int64_t{1} << TensorTinyLogCols(args.n);
  const int64_t rows = kLanes / cols;
  const auto products =
      static_cast<double>(CeilDiv(args.n, cols)) * static_cast<double>(args.batch);
  const double warp_steps =
      products * static_cast<double>(CeilDiv(args.m, rows)) * static_cast<double>(args.k);
  const int64_t lines = (args.a.transposed ? 1 : rows) + (args.b.transposed ? cols : 1);
  const double rounds =
      products * static_cast<double>(CeilDiv(args.m, rows * kWarps / slices)) / kSlots;
  const int64_t chain = CeilDiv(args.k, slices);
  return kFixed + warp_steps / kWarpStepsOfUs +
         warp_steps * static_cast<double>(lines) / kLinesOfUs +
         static_cast<double>(CeilDiv(chain, int64_t{kTinyTogether})) * kTrip +
         static_cast<double>(chain) * std::max(1.0, rounds) * kStepOfRound + rounds * kRound;
}

// The copies of operands that the TMA cannot address.
constexpr double kPackLaunchUs = 2.0;
constexpr double kPackUsOfByte = 1 / 1.75e6;  // Read and written.

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
