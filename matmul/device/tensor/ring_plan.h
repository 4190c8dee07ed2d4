// How tensor_ring divides a product, and how long it is expected to take: the constants are fitted
// to times measured on an H200 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_PLAN_H_

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

constexpr int kRingRows = 64;  // Of the operand with many rows: 16 for each warp.
constexpr int kRingK = 64;     // Of k, which a stage has.
constexpr int kRingThreads = 128;
constexpr int kRingStages = 4;
constexpr int kRingMaxLogSplit = 4;
constexpr int kRingMostFew = 32;

struct RingPlan {
  int few = 0;              // Rows of the few of a tile: 8, 16 or 32.
  int log_split = 0;        // Of the blocks of a cluster, which divide k.
  bool transposed = false;  // The many rows are columns of C.
  double us = 1e30;
};

// Returns the blocks of a multiprocessor for which registers and shared memory are enough.
constexpr int RingResident(int few) { return few < kRingMostFew ? 4 : 3; }

inline int64_t RingTilesOfMany(const MatMulArgs& args, const RingPlan& plan) {
  return CeilDiv(plan.transposed ? args.n : args.m, int64_t{kRingRows});
}
inline int64_t RingTilesOfFew(const MatMulArgs& args, const RingPlan& plan) {
  return CeilDiv(plan.transposed ? args.m : args.n, plan.few);
}

// Returns whether the kernel takes the call: it counts the bytes of a line along k in 31 bits, and
// tiles as a grid does.
inline bool TensorRingTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return args.k <= kMost / 16 - 2 * kRingK && args.batch <= kMaxGridYZ &&
         CeilDiv(std::min(args.m, args.n), 8) <= kMaxGridYZ &&
         CeilDiv(std::max(args.m, args.n), int64_t{kRingRows}) <= kMost >> kRingMaxLogSplit;
}

// What a tile of `few` rows costs, in microseconds.
struct RingCost {
  int few;
  double step;    // A stage with few rows of the many,
  double busy;    // and with all of them, for each block of a multiprocessor.
  double beside;  // A tile, for each block of a multiprocessor.
};
constexpr RingCost kRingCosts[] = {
    {8, 0.608, 0.371, 0.568}, {16, 0.807, 0.523, 1.12}, {32, 1.01, 0.46, 3.08}};

// Returns the microseconds of a plan.
inline double RingUs(const MatMulArgs& args, const DeviceModel& device, const RingPlan& plan) {
  constexpr double kFixed = 8.31;
  constexpr double kMemory = 1.18;
  constexpr double kCluster = 0.0457;
  constexpr double kBlock = 0.00797;  // Of a cluster, and for each block of a multiprocessor.
  constexpr double kTile = 0.13;
  const RingCost& cost = kRingCosts[plan.few == 8 ? 0 : plan.few == 16 ? 1 : 2];
  const int split = 1 << plan.log_split;
  const auto steps = static_cast<double>(CeilDiv(CeilDiv(args.k, int64_t{kRingK}), int64_t{split}));
  const int64_t tiles_of_many = RingTilesOfMany(args, plan);
  const auto tiles = static_cast<double>(tiles_of_many * RingTilesOfFew(args, plan) * args.batch);
  const auto fill = static_cast<double>(plan.transposed ? args.n : args.m) /
                    static_cast<double>(tiles_of_many * kRingRows);
  const int resident = RingResident(plan.few);
  const double slots =
      static_cast<double>(ClustersAtOnce(split, 2, device.multiprocessors)) * resident / 2;
  const double rounds = std::max(1.0, tiles / slots);
  const double of_multiprocessor = std::min(1.0, tiles / slots) * resident;
  const double step = std::max(cost.step, cost.busy * fill * std::max(1.0, of_multiprocessor));
  return kFixed + (split > 1 ? kCluster + kBlock * split * of_multiprocessor : 0) +
         std::max(kMemory * MemoryUs(args, device),
                  rounds * (kTile + cost.beside * of_multiprocessor + steps * step));
}

// Returns the tile and the split.
inline RingPlan PlanTensorRing(const MatMulArgs& args, const DeviceModel& device) {
  RingPlan best;
  RingPlan plan;
  const int64_t few = std::min(args.m, args.n);
  plan.transposed = args.m < args.n;
  plan.few = few <= 8 ? 8 : few <= 16 ? 16 : kRingMostFew;
  const int64_t steps = CeilDiv(args.k, int64_t{kRingK});
  const int max_log_split = device.compute_capability < 90 ? 0 : kRingMaxLogSplit;
  for (plan.log_split = 0; plan.log_split <= max_log_split; ++plan.log_split) {
    if (plan.log_split > 0 && int64_t{1} << plan.log_split > steps) break;
    plan.us = Corrected(TensorPredicted::kRing, args, device,
                        {0, plan.few, 0, int64_t{1} << plan.log_split, plan.transposed},
                        RingUs(args, device, plan));
    if (plan.us < best.us) best = plan;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_RING_PLAN_H_
