// How a product is divided for TensorKParts, and how long that is expected to take: the constants
// are fitted to times of 211 products, with all tiles, measured on an H200 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/rows.h"

namespace stridewise {

// Of a block's tile.
constexpr int kKPartsRows = 128;

struct KPartsPlan {
  int cols = 0;             // Of a tile; 0 where there is no plan.
  int cluster = 1;          // Blocks below each other that share the columns.
  bool transposed = false;  // Tiles are those of C transposed.
  int64_t tiles = 0;        // Of a cluster.
  int64_t parts = 0;        // That each tile's k is divided into.
  double us = 1e30;

  int64_t WorkspaceBytes() const {
    return tiles * parts * cluster * kKPartsRows * cols * int64_t{sizeof(float)};
  }
};

// The columns of tiles. Of an MN-major operand a tile has panels of 64.
constexpr int kKPartsCols[] = {128, 144, 192, 224, 256};
constexpr bool HasKPartsTile(int cols, int cluster, bool cols_along_k) {
  return cols_along_k || cols % (64 * cluster) == 0;
}

// Returns the microseconds of a plan, before corrections.
inline double KPartsUs(const MatMulArgs& args, const DeviceModel& device, const KPartsPlan& plan) {
  constexpr double kFixed = 9.59;           // Both kernels' starts.
  constexpr double kPair = 1.26;            // Until a cluster's blocks have met.
  constexpr double kStep = 0.002329;        // Of a column and 64 of k, while tensor cores are busy.
  constexpr double kBytesOfUs = 1.19e+05;   // Of a multiprocessor, from the L2.
  constexpr double kBytesOfAll = 9.84e+06;  // From the L2 to all of them.
  constexpr double kSumsOfUs = 2.68e+06;    // Bytes of parts, written and read.
  constexpr int64_t kTogether = 4;  // Parts that are read together, and how long that takes.
  constexpr double kTogetherUs = 0.255;
  constexpr double kMemory = 1.2;
  constexpr double kOther = 0.728;  // What of the lesser of two times is not hidden.
  const auto clusters = static_cast<double>(plan.tiles * plan.parts);
  const double steps =
      static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep})) / static_cast<double>(plan.parts);
  const double rate = std::min(kBytesOfUs, kBytesOfAll / (clusters * plan.cluster));
  const double bytes =
      kKPartsRows * LoadedBytesOfRow(plan.transposed ? args.b : args.a) +
      plan.cols * LoadedBytesOfRow(plan.transposed ? args.a : args.b) / plan.cluster;
  const double sums = steps * std::max(kStep * plan.cols, bytes / rate);
  const double memory = kMemory * MemoryUs(args, device);
  return kFixed + kPair * (plan.cluster - 1) +
         std::hypot(std::max(sums, memory), kOther * std::min(sums, memory)) +
         static_cast<double>(plan.WorkspaceBytes()) / kSumsOfUs +
         kTogetherUs * static_cast<double>(CeilDiv(plan.parts, kTogether));
}

// Returns the tile and the number of parts, or a plan without columns where there are too many
// tiles or too few steps to divide.
inline KPartsPlan PlanTensorKParts(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kLeastExtent = 64;
  constexpr int64_t kLeastK = 1024;
  constexpr double kMostWaste = 1.6;
  KPartsPlan best;
  if (std::min(args.m, args.n) <= kLeastExtent || args.k < kLeastK) return best;
  const int64_t steps = CeilDiv(args.k, int64_t{kTensorStep});
  const auto elements =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.batch);
  for (const bool transposed : {false, true}) {
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t extent = transposed ? args.m : args.n;
    const bool cols_along_k = transposed ? !args.a.transposed : args.b.transposed;
    for (const int cluster : {1, 2}) {
      const int64_t clusters = ClustersAtOnce(cluster, 1, device.multiprocessors);
      for (const int cols : kKPartsCols) {
        if (!HasKPartsTile(cols, cluster, cols_along_k)) continue;
        KPartsPlan plan = {cols, cluster, transposed};
        plan.tiles = CeilDiv(rows, int64_t{kKPartsRows} * cluster) *
                     CeilDiv(extent, int64_t{cols}) * args.batch;
        const double waste =
            static_cast<double>(plan.tiles * cluster * kKPartsRows * cols) / elements;
        if (waste > kMostWaste) continue;
        // A part has two steps at least. Where tiles had unequal parts, those that share rows or
        // columns would be everywhere along k, and find less of them in the L2: 1000 x 512 x 32768
        // took 96 us with 66 pairs for 14 tiles, and 61 with 56.
        const int64_t most = std::min(clusters / plan.tiles, steps / 2);
        for (const int64_t parts : {most, CeilDiv(most, int64_t{2})}) {
          if (parts < 2) continue;
          plan.parts = parts;
          plan.us = KPartsUs(args, device, plan);
          if (plan.us < best.us) best = plan;
        }
      }
    }
  }
  if (best.cols == 0) return best;
  best.us = Corrected(
      TensorPredicted::kKParts, args, device,
      {kKPartsRows * best.cluster, best.cols, best.cluster, best.parts, best.transposed}, best.us);
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_
