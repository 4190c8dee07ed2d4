// How tensor_small divides a product, and how long it is expected to take: the constants are fitted
// to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

constexpr int kSmallTile = 64;  // Rows and columns of a block.
constexpr int kSmallK = 64;     // Of k, which a step multiplies.
constexpr int kSmallResident = 3;
constexpr int kSmallMaxLogSplit = 4;

struct SmallPlan {
  int log_split = 0;  // Of the blocks of a cluster, which divide k.
  double us = 1e30;
};

// Returns whether the kernel takes the call: it counts k in 31 bits, and tiles as a grid does.
inline bool TensorSmallTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 2 * kSmallK;
  return args.k <= kMost && args.batch <= kMaxGridYZ &&
         CeilDiv(args.n, int64_t{kSmallTile}) <= kMaxGridYZ &&
         CeilDiv(args.m, int64_t{kSmallTile}) <= kMost >> kSmallMaxLogSplit;
}

// Returns the split of k.
inline SmallPlan PlanTensorSmall(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 6.14;
  constexpr double kMemory = 1.91;
  constexpr double kCluster = 1.03;
  constexpr double kBlockOfCluster = 0.0633;
  constexpr double kTile = 0.275;  // For each block of a multiprocessor, as kBusy.
  constexpr double kStep = 0.906;
  constexpr double kBusy = 0.836;
  const int64_t steps = CeilDiv(args.k, int64_t{kSmallK});
  const auto tiles = static_cast<double>(CeilDiv(args.m, int64_t{kSmallTile}) *
                                         CeilDiv(args.n, int64_t{kSmallTile}) * args.batch);
  const int max_log_split = device.compute_capability < 90 ? 0 : kSmallMaxLogSplit;
  SmallPlan best;
  for (int log_split = 0; log_split <= max_log_split; ++log_split) {
    const int split = 1 << log_split;
    if (split > 1 && split >= 2 * steps) break;
    const double slots =
        static_cast<double>(ClustersAtOnce(split, 2, device.multiprocessors)) * kSmallResident / 2;
    const double rounds = std::max(1.0, tiles / slots);
    const double resident = std::min(1.0, tiles / slots) * kSmallResident;
    const double of_steps =
        static_cast<double>(CeilDiv(steps, int64_t{split})) * std::max(kStep, kBusy * resident);
    const double planned = kFixed + (split > 1 ? kCluster + kBlockOfCluster * split : 0) +
                           std::max(kMemory * MemoryUs(args, device),
                                    rounds * (kTile * std::max(1.0, resident) + of_steps));
    const double us = Corrected(TensorPredicted::kSmall, args, device, {0, 0, 0, split}, planned);
    if (us < best.us) best = {log_split, us};
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_PLAN_H_
