// How a product is divided for TensorPair, and how long that is expected to take.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

constexpr int kPairRows = 64;  // Of a tile: those of an instruction.
constexpr int kPairMaxStages = 16;

// The tile's columns. Two tiles of a cluster lie side by side and share the rows of A. Of 32
// columns they are slower than TensorDecode where k is long (40 instead of 37 us for 64 x 4096 x
// 14336 on an H200), and tiles of 128 columns that share these are slower than tensor_tile (11.9
// instead of 10.9 us for 1024 x 1024 x 1024).
constexpr int kPairCols[] = {8, 16};

struct PairPlan {
  int cols = 0;  // 0: no tile of which all blocks run at once.
  int cluster = 2;
  bool transposed = false;  // Tiles are those of C transposed.
  int64_t clusters = 0;
  double us = 1e30;
};

constexpr int PairStageBytes(int cols) {
  constexpr int kRowBytes = 128;
  return (kPairRows + cols) * kRowBytes;
}

inline int PairStages(int cols) {
  constexpr int kMostBytes = 208 * 1024;
  return std::min(kPairMaxStages, kMostBytes / PairStageBytes(cols));
}

// Returns the tile of TensorPair for a call whose operands the TMA can address. Its columns lie
// along k. Up to eight columns are a single tile's, which needs no partner. Where fewer than two
// fifths of the multiprocessors would have a block, k is better divided.
inline PairPlan PlanTensorPair(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 5.8;
  constexpr double kCluster = 0.67;
  constexpr double kMemory = 0.91;
  constexpr double kTrip = 1.5;        // Until memory answers at its full rate.
  constexpr double kBytesOfUs = 83e3;  // Of a multiprocessor, from the L2.
  constexpr double kRowBytes = 128;
  constexpr double kHidden = 0.1;  // Of the loads that lie under memory's time.
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}));
  const double memory = kTrip + kMemory * MemoryUs(args, device);
  PairPlan best;
  for (const bool transposed : {false, true}) {
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t extent = transposed ? args.m : args.n;
    const bool cols_along_k = transposed ? !args.a.transposed : args.b.transposed;
    if (!cols_along_k) continue;
    for (const int cols : kPairCols) {
      const int64_t tile_rows = CeilDiv(rows, int64_t{kPairRows});
      const int64_t tile_cols = CeilDiv(extent, int64_t{cols});
      const int cluster = tile_cols == 1 ? 1 : 2;
      if (cluster == 1 && cols > kPairCols[0]) continue;
      const int64_t clusters = tile_rows * CeilDiv(tile_cols, cluster) * args.batch;
      if (tile_cols > 2 || clusters > ClustersAtOnce(cluster, 1, device.multiprocessors) ||
          clusters * cluster * 5 < device.multiprocessors * 2) {
        continue;
      }
      const double rows_of_step = kPairRows / cluster + cols;
      const double loads = steps * rows_of_step * kRowBytes / kBytesOfUs;
      const double us = kFixed + (cluster == 2 ? kCluster : 0) + kHidden * loads +
                        std::max(memory, kTrip + loads);
      if (us < best.us) best = {cols, cluster, transposed, clusters, us};
    }
  }
  best.us = Corrected(TensorPredicted::kPair, args, device,
                      {kPairRows, best.cols, best.cluster, 1, best.transposed}, best.us);
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PAIR_PLAN_H_
