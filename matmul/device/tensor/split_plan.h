// How a product is divided for TensorSplit, and how long that is expected to take: the constants
// are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/off_lines.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

// Returns whether tiles of TensorSplit with these columns are wide, for products where both extents
// are hundreds. A block with one has a multiprocessor for itself.
constexpr bool IsWideSplit(int cols) { return cols > 64; }

// Returns the blocks of TensorSplit on a multiprocessor: one if all clusters fit so, else two.
inline int SplitResident(int64_t tiles, int split, const DeviceModel& device) {
  return tiles <= ClustersAtOnce(split, 1, device.multiprocessors) ? 1 : 2;
}

// Returns the stages of a block of TensorSplit: what fits into its part of a multiprocessor's
// shared memory. More than eight are slower.
constexpr int kSplitMaxStages = 8;
inline int SplitStages(int resident, int stage_bytes) {
  constexpr int kBytesOfOne = 224 * 1024;
  constexpr int kBytesOfTwo = 111 * 1024;
  return std::min(kSplitMaxStages, (resident == 1 ? kBytesOfOne : kBytesOfTwo) / stage_bytes);
}

// What a tile of tensor_split is expected to take, of an operand of `rows` and one of `extent`
// rows.
struct SplitShape {
  int64_t rows, extent, steps;
  bool cols_along_k;  // The tile's columns are those of a K-major operand.
  bool has_vectors;   // Four neighbours of C are a vector.
  double memory;      // Microseconds in which memory has sent the operands.
};

// What tiles of up to 64 columns cost, in microseconds.
struct NarrowSplitCost {
  double fixed;
  double tile;
  double column;        // Of the tile, for its end.
  double step;          // Of a column and 64 of k.
  double latency;       // Until memory answers.
  double bytes_of_us;   // Of a multiprocessor, from the L2.
  double bytes_of_all;  // From the L2 to all of them.
  double once;          // Times both where the large operand is read once.
  double cluster, block;
  double memory;  // Times what memory takes.
};
constexpr NarrowSplitCost kFewSplitCost = {5.19,  1.78,  0.0399, 0.0044, 1.56, 8.148e+04,
                                           1e+12, 0.799, 0.546,  0.128,  1.04};
// Fitted to 142 times of 90 products on an H200, 7 % off in the mean.
constexpr NarrowSplitCost k64SplitCost = {4.14,      2.04, 0.0287, 0.00301, 1.87, 1.277e+05,
                                          7.958e+06, 1.45, 0,      0.46,    1.08};

// Returns the microseconds of tensor_split with tiles of up to 64 columns.
//
// A block's stages are filled in the time that memory takes to answer, so that a step lasts at
// least that over the number of stages; and all multiprocessors together load from the L2 at its
// rate. Clusters that do not fit wait for those that do.
inline double NarrowSplitUs(const SplitShape& shape, const DeviceModel& device, int64_t batch,
                            int cols, int split) {
  constexpr int kRows = 128;
  constexpr int kBytesOfRow = 128;           // Of a stage.
  constexpr double kStoreOne = 0.25 / 1000;  // An element of C where it has no vectors.
  const NarrowSplitCost& cost = cols < 64 ? kFewSplitCost : k64SplitCost;
  const int stage_bytes = (kRows + cols) * kBytesOfRow;
  const int64_t tiles = CeilDiv(shape.rows, kRows) * CeilDiv(shape.extent, cols) * batch;
  const auto elements = static_cast<double>(std::min<int64_t>(shape.rows, kRows) *
                                            std::min<int64_t>(shape.extent, cols));
  const int resident = SplitResident(tiles, split, device);
  const int64_t at_once = ClustersAtOnce(split, resident, device.multiprocessors);
  const auto waves = static_cast<double>(CeilDiv(tiles, at_once));
  const auto blocks = static_cast<double>(std::min(tiles, at_once) * split);
  // Of the blocks of a multiprocessor.
  const double once = shape.extent <= cols ? cost.once : 1;
  const double step = std::max({cost.step * cols * once * resident,
                                stage_bytes / cost.bytes_of_us * once * resident,
                                stage_bytes * blocks / cost.bytes_of_all * once,
                                cost.latency / SplitStages(resident, stage_bytes)});
  const double store = shape.has_vectors ? 0 : kStoreOne * elements / split;
  const double sums = split == 1 ? 0 : cost.cluster + cost.block * split;
  return cost.fixed + cost.column * cols + sums +
         std::max(cost.memory * shape.memory,
                  waves * (resident * (cost.tile + store) +
                           static_cast<double>(CeilDiv(shape.steps, split)) * step));
}

// Returns the same for wide tiles. All of their blocks run at once, one on each multiprocessor: the
// time is huge where they do not.
inline double WideSplitUs(const SplitShape& shape, const DeviceModel& device, int64_t batch,
                          int cols, int split) {
  constexpr int kRows = 128;
  constexpr int kBytesOfRow = 128;
  // Fitted to 581 times of 90 products on an H100, 6 % off in the mean.
  constexpr double kFixed = 7.11;
  constexpr double kMemory = 1.01;          // Times what memory takes.
  constexpr double kStep = 0.00257;         // Of a column and 64 of k, while tensor cores are busy.
  constexpr double kBytesOfUs = 9.635e+04;  // Of a multiprocessor, from the L2.
  constexpr double kBytesOfAll = 8.795e+06;  // From one L2 to all of them.
  constexpr double kColumn = 0.0254;         // Of the tile, for its end.
  constexpr double kBlock = 0.574;           // Of a cluster of more than two.
  constexpr double kStoreOne = 0.00038;      // An element of C where it has no vectors.
  constexpr double kHuge = 1e30;
  const int64_t tiles = CeilDiv(shape.rows, kRows) * CeilDiv(shape.extent, cols) * batch;
  if (tiles > ClustersAtOnce(split, 1, device.multiprocessors)) return kHuge;
  const auto blocks = static_cast<double>(tiles * split);
  const double rate = std::min(kBytesOfUs, kBytesOfAll / blocks);
  const double step = std::max(kStep * cols, (kRows + cols) * kBytesOfRow / rate);
  const double store = shape.has_vectors ? 0 : kStoreOne * kRows * cols / split;
  return kFixed + kColumn * cols + kBlock * std::max(0, split - 2) + store +
         std::max(kMemory * shape.memory, static_cast<double>(CeilDiv(shape.steps, split)) * step);
}

// The columns of tensor_split's tiles. Of an MN-major operand a tile has panels of 64.
constexpr int kSplitCols[] = {8, 16, 32, 64, 128, 192, 224, 256};
constexpr bool HasSplitTile(int cols, bool cols_along_k) {
  return cols_along_k || !IsWideSplit(cols) || cols % 64 == 0;
}

// Returns the tile, split and direction of tensor_split.
inline TensorPlan PlanTensorSplit(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kTrip = 1.8;  // Until memory answers at its full rate.
  constexpr int64_t kHalf = 64;  // Of a tile's rows.
  TensorPlan best;
  SplitShape shape = {};
  shape.memory = kTrip + MemoryUs(args, device);
  shape.steps = CeilDiv(args.k, kTensorStep);
  shape.has_vectors = args.c.ld % 4 == 0 && (args.batch == 1 || args.c.stride % 4 == 0);
  for (const bool transposed : {false, true}) {
    shape.rows = transposed ? args.n : args.m;
    shape.extent = transposed ? args.m : args.n;
    shape.cols_along_k = transposed ? !args.a.transposed : args.b.transposed;
    // Half of a tile's rows would lie outside. Transposed they are columns, of which tiles have
    // few.
    if (shape.rows <= kHalf && shape.extent > kHalf) continue;
    for (const int cols : kSplitCols) {
      // Narrow tiles are for a single column of them, wide ones for more than half their columns.
      if (cols < 64 ? shape.extent > cols : shape.extent <= cols / 2) continue;
      if (!HasSplitTile(cols, shape.cols_along_k)) continue;
      for (const int split : {1, 2, 3, 4, 6, 8}) {
        if (split > shape.steps) break;
        TensorPlan plan = {cols, split, 1, transposed};
        const double us = IsWideSplit(cols) ? WideSplitUs(shape, device, args.batch, cols, split)
                                            : NarrowSplitUs(shape, device, args.batch, cols, split);
        plan.us = CorrectedTiles(TensorPredicted::kSplit, args, device, plan,
                                 std::max(us, OffLinesUs(args, plan, device)));
        if (plan.us < best.us) best = plan;
      }
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_PLAN_H_
