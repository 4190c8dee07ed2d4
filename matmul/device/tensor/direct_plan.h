// How tensor_direct divides a product, and how long it is expected to take: the constants are
// fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

constexpr int kDirectRows = 64;  // Of the operand with many rows, for each warp.
constexpr int kDirectK = 32;     // Of k, which a warp's step multiplies.
constexpr int kDirectWarps = 4;
constexpr int kDirectLogWarps = 2;
constexpr int kDirectMaxLogSplit = 4;

struct DirectPlan {
  int few = 0;              // Columns of the tile: 8, 16 or 32.
  int log_split = 0;        // Of the blocks of a cluster, which divide k.
  int log_warps_of_k = 0;   // Of the warps of a block that divide its k.
  bool transposed = false;  // The many rows are columns of C.
  double us = 1e30;
};

// Returns the blocks of a multiprocessor.
constexpr int DirectResident(int few) { return few == 8 ? 4 : few == 16 ? 3 : 2; }

inline int64_t DirectBlocksOfRows(const MatMulArgs& args, const DirectPlan& plan) {
  return CeilDiv(plan.transposed ? args.n : args.m,
                 int64_t{kDirectRows * kDirectWarps} >> plan.log_warps_of_k);
}
inline int64_t DirectTilesOfFew(const MatMulArgs& args, const DirectPlan& plan) {
  return CeilDiv(plan.transposed ? args.m : args.n, plan.few);
}

// Returns whether the kernel takes the call: it counts k in 31 bits, and tiles as a grid does.
inline bool TensorDirectTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kLeastFew = 8;
  return args.k <= kMost - 2 * kDirectK && args.batch <= kMaxGridYZ &&
         CeilDiv(std::min(args.m, args.n), kLeastFew) <= kMaxGridYZ &&
         std::max(args.m, args.n) <= kMost;
}

// What a tile of `few` columns costs, in microseconds.
struct DirectCost {
  int few;
  double tile;     // A round of blocks,
  double beside;   // and more for each block of a multiprocessor.
  double group;    // More for each 64 rows of a block.
  double step;     // 32 of k, of a warp: a trip to memory.
  double busy;     // The same for each block of a multiprocessor, where that is more.
  double cluster;  // More where blocks divide k.
};
constexpr DirectCost kDirectCosts[] = {{8, 0.628, 0.711, 0.326, 1.53, 0.3, 0.81},
                                       {16, 1.18, 0, 1.3, 1.66, 0.827, 0.444},
                                       {32, 1.73, 0, 2.69, 2.63, 1, 0.15}};

// Returns the microseconds of a plan. Operands are read at half of what memory can do.
inline double DirectUs(const MatMulArgs& args, const DeviceModel& device, const DirectPlan& plan) {
  constexpr double kFixed = 5.85;
  constexpr double kMemory = 1.23;
  const DirectCost& cost = kDirectCosts[plan.few == 8 ? 0 : plan.few == 16 ? 1 : 2];
  const int split = 1 << plan.log_split;
  const int64_t steps =
      CeilDiv(CeilDiv(args.k, kDirectK), int64_t{1} << (plan.log_split + plan.log_warps_of_k));
  const auto tiles = static_cast<double>(DirectBlocksOfRows(args, plan) *
                                         DirectTilesOfFew(args, plan) * args.batch);
  const int resident = DirectResident(plan.few);
  const double slots =
      static_cast<double>(ClustersAtOnce(split, 2, device.multiprocessors)) * resident / 2;
  const double rounds = std::max(1.0, std::ceil(tiles / slots));
  const double of_multiprocessor = std::min(1.0, tiles / slots) * resident;
  const double step = std::max(cost.step, cost.busy * of_multiprocessor);
  return kFixed + (split > 1 ? cost.cluster : 0) +
         std::max(kMemory * MemoryUs(args, device),
                  rounds * (cost.tile + cost.beside * of_multiprocessor +
                            cost.group * (kDirectWarps >> plan.log_warps_of_k) +
                            static_cast<double>(steps) * step));
}

// Returns the tile and the split.
inline DirectPlan PlanTensorDirect(const MatMulArgs& args, const DeviceModel& device) {
  DirectPlan best;
  DirectPlan plan;
  const int64_t few = std::min(args.m, args.n);
  plan.transposed = args.m < args.n;
  plan.few = few <= 8 ? 8 : few <= 16 ? 16 : 32;
  const int max_log_split = device.compute_capability < 90 ? 0 : kDirectMaxLogSplit;
  for (plan.log_warps_of_k = 0; plan.log_warps_of_k <= kDirectLogWarps; ++plan.log_warps_of_k) {
    // The blocks of a cluster divide k where its warps do.
    const int splits = plan.log_warps_of_k == kDirectLogWarps ? max_log_split : 0;
    for (plan.log_split = 0; plan.log_split <= splits; ++plan.log_split) {
      // Warps without a step of k only cost.
      const int64_t parts = int64_t{1} << (plan.log_split + plan.log_warps_of_k);
      if (plan.log_split > 0 && parts >= 2 * CeilDiv(args.k, int64_t{kDirectK})) break;
      plan.us = Corrected(TensorPredicted::kDirect, args, device,
                          {0, plan.few, int64_t{1} << plan.log_warps_of_k,
                           int64_t{1} << plan.log_split, plan.transposed},
                          DirectUs(args, device, plan));
      if (plan.us < best.us) best = plan;
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DIRECT_PLAN_H_
