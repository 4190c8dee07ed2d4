// How a product is divided for TensorStreamK, and how long that is expected to take: the constants
// are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/rows.h"

namespace stridewise {

// Of a block's tile.
constexpr int kStreamKRows = 128;

struct StreamKPlan {
  int cols = 0;             // Of a tile; 0 where there is no plan.
  int cluster = 1;          // Blocks below each other that share the columns.
  bool transposed = false;  // Tiles are those of C transposed.
  int64_t tiles = 0;        // Of a cluster.
  int64_t clusters = 0;     // That divide their steps.
  double us = 1e30;

  // Each tile has a part, and each cluster but the first one more at most.
  int64_t WorkspaceBytes() const {
    return (tiles + clusters - 1) * cluster * kStreamKRows * cols * int64_t{sizeof(float)};
  }
};

// The columns of tiles. Of an MN-major operand a tile has panels of 64.
constexpr int kStreamKCols[] = {128, 144, 192, 224, 256};
constexpr bool HasStreamKTile(int cols, int cluster, bool cols_along_k) {
  return cols_along_k || cols % (64 * cluster) == 0;
}

// Returns the microseconds of a plan, before corrections.
inline double StreamKUs(const MatMulArgs& args, const DeviceModel& device,
                        const StreamKPlan& plan) {
  constexpr double kFixed = 9.5;     // Both kernels' starts.
  constexpr double kStep = 0.00257;  // Of a column and 64 of k, while tensor cores are busy.
  constexpr double kOnBytes = 128;   // Of a row and a step, see off_lines.h.
  constexpr double kOffBytes = 160;
  constexpr double kBytesOfUs = 9.6e+04;   // Of a multiprocessor, from the L2.
  constexpr double kBytesOfAll = 8.8e+06;  // From the L2 to all of them.
  constexpr double kPart = 0.7;            // A part that a cluster leaves.
  constexpr double kSumsOfUs = 4e+06;      // Bytes of parts, written and read.
  constexpr double kMemory = 1.05;
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep}) * plan.tiles) /
                     static_cast<double>(plan.clusters);
  const double rate =
      std::min(kBytesOfUs, kBytesOfAll / static_cast<double>(plan.clusters * plan.cluster));
  const auto of_row = [](const MatMulInput& input) {
    return BeginsOffLines(input) ? kOffBytes : kOnBytes;
  };
  const double bytes = kStreamKRows * of_row(plan.transposed ? args.b : args.a) +
                       plan.cols * of_row(plan.transposed ? args.a : args.b) / plan.cluster;
  const double step = std::max(kStep * plan.cols, bytes / rate);
  const double parts = plan.clusters % plan.tiles == 0 ? 1 : 2;
  return kFixed + std::max(kMemory * MemoryUs(args, device), steps * step + kPart * parts) +
         static_cast<double>(plan.WorkspaceBytes()) / kSumsOfUs;
}

// Returns the tile and the number of clusters, or a plan without columns where whole tiles or few
// steps leave nothing to divide.
inline StreamKPlan PlanTensorStreamK(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kLeastExtent = 64;
  constexpr int64_t kLeastK = 1024;
  constexpr double kMostWaste = 1.6;
  StreamKPlan best;
  if (std::min(args.m, args.n) <= kLeastExtent || args.k < kLeastK) return best;
  const auto elements =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.batch);
  for (const bool transposed : {false, true}) {
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t extent = transposed ? args.m : args.n;
    const bool cols_along_k = transposed ? !args.a.transposed : args.b.transposed;
    for (const int cluster : {1, 2}) {
      const int64_t most = device.multiprocessors / cluster;
      for (const int cols : kStreamKCols) {
        if (!HasStreamKTile(cols, cluster, cols_along_k)) continue;
        StreamKPlan plan = {cols, cluster, transposed};
        plan.tiles = CeilDiv(rows, int64_t{kStreamKRows} * cluster) *
                     CeilDiv(extent, int64_t{cols}) * args.batch;
        const double waste =
            static_cast<double>(plan.tiles * cluster * kStreamKRows * cols) / elements;
        if (plan.tiles > most || waste > kMostWaste) continue;
        for (const int64_t clusters : {most, most / plan.tiles * plan.tiles}) {
          plan.clusters = clusters;
          plan.us = StreamKUs(args, device, plan);
          if (plan.us < best.us) best = plan;
        }
      }
    }
  }
  if (best.cols == 0) return best;
  best.us = Corrected(TensorPredicted::kStreamK, args, device,
                      {kStreamKRows * best.cluster, best.cols, best.cluster,
                       CeilDiv(best.clusters, best.tiles), best.transposed},
                      best.us);
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STREAM_K_PLAN_H_
