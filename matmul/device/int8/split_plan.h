// How an INT8 product is divided for the kernel of split.h, and how long that is expected to take.

#ifndef STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"

namespace stridewise {

constexpr int kInt8SplitRows = 128;
constexpr int kInt8SplitStep = 128;  // Of k: a row of 128 bytes.
constexpr int kInt8SplitMaxStages = 8;
// Wider tiles lose to the persistent ones wherever they beat these: of 64 products the best of 128,
// 192 and 256 columns was 2 % faster than the best of both others at one, 4076 x 75 x 8080.
constexpr int kInt8SplitCols[] = {8, 16, 32, 64};

// The tile of a call, and the blocks of a cluster that divide its k extent.
struct Int8SplitPlan {
  int cols = 0;
  int split = 1;
  bool transposed = false;  // Tiles are those of C transposed.
  double us = 1e30;
};

// Returns the blocks on a multiprocessor: two where not all clusters fit alone.
inline int Int8SplitResident(int64_t tiles, int split, const DeviceModel& device) {
  return tiles <= ClustersAtOnce(split, 1, device.multiprocessors) ? 1 : 2;
}

// Returns the stages that fit into a block's part of a multiprocessor's shared memory.
inline int Int8SplitStages(int resident, int cols) {
  constexpr int kBytesOfOne = 224 * 1024;
  constexpr int kBytesOfTwo = 111 * 1024;
  const int stage_bytes = (kInt8SplitRows + cols) * kInt8SplitStep;
  return std::min(kInt8SplitMaxStages, (resident == 1 ? kBytesOfOne : kBytesOfTwo) / stage_bytes);
}

// What a call costs, in microseconds: fitted to 839 times of 94 products with all tiles, splits and
// directions, measured on H200s with a cold L2. `fixed` has 2.5 more than they have, as the costs
// of the tiles in tensor_int8_tiles.h, fitted on an H100, are an eighth above an H200's. So chosen,
// and with tensor_int8's margin, the 94 products take 5 % longer in the mean than with the faster
// kernel and plan; with tiles alone 36.
struct Int8SplitCost {
  double fixed;
  double column;               // Of the tile, for its end.
  double step;                 // Of a column and 128 of k.
  double latency;              // Until the L2 answers.
  double of_one;               // Bytes that a multiprocessor gets from the L2.
  double of_all;               // Bytes that all of them get.
  double memory;               // Times what memory takes.
  double off_all, off_memory;  // Times where rows of operands begin within lines of the L2.
  // Of 1000 elements of C. A warp's instruction reaches 8 of its rows and half of 8 columns: 8
  // sectors, or 4 in tiles of C transposed.
  double add, add_transposed;      // For each block of a cluster.
  double store, store_transposed;  // Where k is not divided.
  double off_c;                    // Times where rows of C begin within sectors.
};
constexpr Int8SplitCost kInt8SplitCost = {8.1,  0.0203, 0.00261, 0.857,   1.173e5, 7.54e6,  1.57,
                                          1.18, 1.1,    0.00402, 0.00212, 0.00165, 0.00103, 1.41};

// Returns the microseconds that a plan is expected to take where memory takes `memory`.
inline double Int8SplitUs(const MatMulArgs& args, const DeviceModel& device, double memory,
                          const Int8SplitPlan& plan) {
  constexpr int64_t kLineBytes = 128;
  constexpr int64_t kSectorElements = 8;  // Of C.
  const Int8SplitCost& cost = kInt8SplitCost;
  const int64_t rows = plan.transposed ? args.n : args.m;
  const int64_t cols = plan.transposed ? args.m : args.n;
  const int64_t tiles = CeilDiv(rows, kInt8SplitRows) * CeilDiv(cols, plan.cols) * args.batch;
  const int resident = Int8SplitResident(tiles, plan.split, device);
  const int64_t at_once = ClustersAtOnce(plan.split, resident, device.multiprocessors);
  const auto waves = static_cast<double>(CeilDiv(tiles, at_once));
  const auto blocks = static_cast<double>(std::min(tiles, at_once) * plan.split);
  const auto steps =
      static_cast<double>(CeilDiv(CeilDiv(args.k, int64_t{kInt8SplitStep}), int64_t{plan.split}));
  const double bytes = (kInt8SplitRows + plan.cols) * kInt8SplitStep;
  const bool off = args.k % kLineBytes != 0;
  const double step = std::max({cost.step * plan.cols * resident, bytes / cost.of_one * resident,
                                (off ? cost.off_all : 1) * bytes * blocks / cost.of_all,
                                cost.latency / Int8SplitStages(resident, plan.cols)});
  const double element = plan.split > 1
                             ? plan.split * (plan.transposed ? cost.add_transposed : cost.add)
                             : (plan.transposed ? cost.store_transposed : cost.store);
  const double c = 1e-3 * element * (args.c.ld % kSectorElements == 0 ? 1 : cost.off_c) *
                   static_cast<double>(args.m * args.n * args.batch);
  return cost.fixed + cost.column * plan.cols + c +
         std::max(cost.memory * (off ? cost.off_memory : 1) * memory, waves * steps * step);
}

// Returns the plan that is expected to be the fastest.
inline Int8SplitPlan PlanInt8Split(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kOfRate = 0.9;
  constexpr int64_t kHalf = 64;  // Of a tile's rows.
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double memory = (m * k * (args.a.stride == 0 ? 1 : batch) +
                         n * k * (args.b.stride == 0 ? 1 : batch) + 4 * m * n * batch) /
                        (kOfRate * 1e3 * device.memory_gbps);
  Int8SplitPlan best;
  for (const bool transposed : {false, true}) {
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t extent = transposed ? args.m : args.n;
    // Half of a tile would lie outside, and the other direction has a tile as wide as these rows.
    if (rows <= kHalf && extent > kHalf) continue;
    for (const int cols : kInt8SplitCols) {
      // Narrow tiles are for a single column of them, which half of would not lie outside.
      if (cols < 64 && extent > cols) continue;
      if (cols > 8 && extent <= cols / 2) continue;
      for (const int split : {1, 2, 3, 4, 6, 8}) {
        if (split > CeilDiv(args.k, int64_t{kInt8SplitStep})) break;
        Int8SplitPlan plan = {cols, split, transposed};
        plan.us = Int8SplitUs(args, device, memory, plan);
        if (plan.us < best.us) best = plan;
      }
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_INT8_SPLIT_PLAN_H_
