// The tiles of TensorSingle, and how long a product is expected to take with each.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/base/matrix.h"
#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/device/tensor/off_lines.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// A tile of TensorSingle, and what it costs in microseconds. `turned`: its rows are columns of C,
// and its columns, which need not be panels of 64, rows of C.
struct SingleTileCost {
  int rows, cols;
  bool turned;
  double fixed;
  double step;
  double full;  // More for a step where all multiprocessors load.
  // Of a cluster (clustered.h): blocks that share the tile's columns, and its rows.
  int row_blocks = 1, col_blocks = 1;
};
// Steps are fitted to times of 512 to 2048 squared with 256 to 4096 of k on an H100; what is fixed
// is half a microsecond less than tensor_tile's tiles have.
constexpr SingleTileCost kSingleTileCosts[] = {
    {64, 32, true, 6.4, 0.090, 0.030},    {64, 64, false, 6.5, 0.100, 0.055},
    {64, 128, true, 6.2, 0.148, 0.055},   {64, 128, false, 6.5, 0.148, 0.055},
    {128, 128, false, 6.6, 0.277, 0.038}, {128, 144, true, 7.2, 0.300, 0.060},
    {128, 192, false, 7.5, 0.421, 0.035}, {128, 256, false, 7.9, 0.555, 0.066}};
// In clusters, for operands whose rows begin within lines of the L2. Fitted to 264 to 2040 rows and
// columns with 520 to 4104 of k on an H200, where 520 x 1000 x 4104 takes 19.3 us so and alone 29.
constexpr SingleTileCost kClusteredTileCosts[] = {{64, 96, true, 7.34, 0.162, 0.034, 4, 2},
                                                  {64, 128, true, 7.56, 0.176, 0.060, 2, 4},
                                                  {128, 96, true, 7.96, 0.220, 0.090, 2, 2},
                                                  {128, 128, false, 8.49, 0.273, 0.047, 2, 4}};

// Returns whether a tile is for the call. A turned one needs A along k: an operand that is not
// comes in panels of 64. That of 64 x 128 has its 128 along k so where B does not lie along k,
// which shared memory sends faster: 1024 x 1024 x 1024 takes 9.5 us and not 9.9.
inline bool HasSingleTile(const MatMulArgs& args, const SingleTileCost& tile) {
  if (!tile.turned) return true;
  if (tile.row_blocks > 1) return !args.a.transposed;
  return !args.a.transposed && (tile.cols != 128 || !args.b.transposed);
}

// Returns whether TensorSingle takes a call whose operands the TMA can address: one whose C it can
// store, too, and that is not for the kernels of few rows or columns.
inline bool TensorSingleTakes(const MatMulArgs& args) {
  const ConstMatrix<uint16_t> c = {static_cast<const uint16_t*>(args.c.data), args.m, args.n,
                                   args.c.ld};
  return ElementBytes(args.c.type) == 2 && args.beta == 0 && std::min(args.m, args.n) > kFewLines &&
         HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
}

// Returns the least microseconds of a tile, beside its own estimate, which is fitted to squares:
// what tensor_tile or tensor_turned are expected to take with the same tile, less what is saved.
// By squares alone 8192 x 128 x 32768 came here, and took 200 us instead of 148.
inline double LeastOfSameTile(const MatMulArgs& args, const DeviceModel& device,
                              const SingleTileCost& tile, int64_t rows, int64_t cols) {
  constexpr double kSaved = 0.6;
  constexpr int64_t kMostOfNew = 2048;  // Of k, for the tile that they do not have.
  const auto find = [&](const auto& costs) {
    for (const TensorTileCost& cost : costs) {
      if (cost.cluster != 1 || cost.rows != tile.rows || cost.cols != tile.cols) continue;
      return TensorTileUs(args, device, cost, rows, cols) - kSaved;
    }
    return args.k <= kMostOfNew ? 0.0 : 1e30;
  };
  const bool large = IsLargeProduct(args);
  if (tile.turned && tile.rows == 128) {
    return large ? find(kLargeTurnedCosts) : find(kTensorTurnedCosts);
  }
  return large ? find(kLargeTileCosts) : find(kTensorTileCosts);
}

// Returns whether blocks that run side by side share what they load: 197 x 4096 x 1024, 32 columns
// of tiles beside each other and two rows, takes 11.7 us so, and 9.8 in tensor_tile's bands.
inline bool IsCompact(int64_t rows, int64_t cols, const SingleTileCost& tile) {
  return rows <= tile.rows || cols <= tile.cols || std::max(rows, cols) <= 2 * std::min(rows, cols);
}

// Returns the tile of TensorClustered, whose clusters all run at once: `us` is huge where there is
// none. `cluster` of it are the blocks of one.
inline TensorPlan PlanTensorClustered(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kStart = 5.8;  // Beside what memory takes.
  constexpr int64_t kLeastSteps = 8;
  constexpr int64_t kMostSteps = 128;  // Those that were measured, and twice that.
  const int64_t steps = CeilDiv(args.k, int64_t{kTensorStep});
  TensorPlan best;
  if (steps < kLeastSteps || steps > kMostSteps) return best;
  if (!BeginsOffLines(args.a) && !BeginsOffLines(args.b)) return best;
  for (const SingleTileCost& cost : kClusteredTileCosts) {
    if (!HasSingleTile(args, cost)) continue;
    const int64_t rows = cost.turned ? args.n : args.m;
    const int64_t cols = cost.turned ? args.m : args.n;
    const int blocks = cost.row_blocks * cost.col_blocks;
    const int64_t row_tiles = CeilDiv(rows, int64_t{cost.rows});
    const int64_t col_tiles = CeilDiv(cols, int64_t{cost.cols});
    // Clusters with blocks outside of C both below and beside it take up to 1.5 times as long.
    if (row_tiles % cost.row_blocks != 0 && col_tiles % cost.col_blocks != 0) continue;
    const int64_t clusters = CeilDiv(row_tiles, int64_t{cost.row_blocks}) *
                             CeilDiv(col_tiles, int64_t{cost.col_blocks}) * args.batch;
    if (clusters > ClustersAtOnce(blocks, 1, device.multiprocessors) ||
        clusters * blocks > device.multiprocessors) {
      continue;
    }
    const double fill = static_cast<double>(clusters * blocks) / device.multiprocessors;
    TensorPlan plan = {cost.cols, 1, blocks, cost.turned, 0, cost.rows};
    plan.us = std::max(kStart + MemoryUs(args, device),
                       cost.fixed + static_cast<double>(steps) * (cost.step + cost.full * fill));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

// Returns the tile of TensorSingle, whose blocks all run at once, or of TensorClustered: `us` is
// huge where there is none. `transposed` says that it is turned.
inline TensorPlan PlanTensorSingle(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kStart = 5.3;      // Beside what memory takes.
  constexpr int64_t kMostSteps = 64;  // Of products that were measured.
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  TensorPlan best = PlanTensorClustered(args, device);
  if (steps > kMostSteps) return best;
  for (const SingleTileCost& cost : kSingleTileCosts) {
    if (!HasSingleTile(args, cost)) continue;
    const int64_t rows = cost.turned ? args.n : args.m;
    const int64_t cols = cost.turned ? args.m : args.n;
    const int64_t tiles =
        CeilDiv(rows, int64_t{cost.rows}) * CeilDiv(cols, int64_t{cost.cols}) * args.batch;
    if (tiles > device.multiprocessors || !IsCompact(rows, cols, cost)) continue;
    const double fill = static_cast<double>(tiles) / device.multiprocessors;
    TensorPlan plan = {cost.cols, 1, 1, cost.turned, 0, cost.rows};
    plan.us = std::max(kStart + MemoryUs(args, device),
                       cost.fixed + steps * (cost.step + cost.full * fill));
    plan.us = std::max(
        {plan.us, OffLinesUs(args, plan, device), LeastOfSameTile(args, device, cost, rows, cols)});
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SINGLE_PLAN_H_
