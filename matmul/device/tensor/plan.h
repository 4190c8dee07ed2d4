// How a product is divided for the kernels of tensor cores, and how long each is expected to take:
// the constants are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor_map.h"
#include "matmul/tensor_corrections.h"

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
  int rows = 128;
};

// Returns the microseconds that the bytes of operands and C take.
inline double MemoryUs(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kOfRate = 0.9;
  const double bytes_of_us = kOfRate * 1e3 * device.memory_gbps;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double of_a = m * k * (args.a.stride == 0 ? 1 : batch);
  const double of_b = n * k * (args.b.stride == 0 ? 1 : batch);
  const auto bytes = [](ElementType type) { return static_cast<double>(ElementBytes(type)); };
  return ((of_a + of_b) * bytes(args.a.type) + m * n * batch * bytes(args.c.type)) / bytes_of_us;
}

// Returns the microseconds that a plan says, corrected (tensor_corrections.h).
inline double Corrected(TensorPredicted predicted, const MatMulArgs& args,
                        const DeviceModel& device, const PlannedTiles& division, double us) {
  return CorrectedTensorUs(predicted, args, device, division, MemoryUs(args, device), us);
}

// Returns the same of a plan with tiles.
inline double CorrectedTiles(TensorPredicted predicted, const MatMulArgs& args,
                             const DeviceModel& device, const TensorPlan& plan, double us) {
  return Corrected(predicted, args, device,
                   {plan.rows, plan.cols, plan.cluster, plan.split, plan.transposed}, us);
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

// Returns the split of tensor_general.
inline TensorPlan PlanTensorGeneral(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int kTile = 64;
  constexpr double kFixed = 3.6;
  constexpr double kTileUs = 4.7;
  constexpr double kStep = 1.98;
  constexpr double kCluster = 1.9;
  constexpr double kBlock = 0.37;
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
  best.us = Corrected(TensorPredicted::kGeneral, args, device, {0, 0, 0, best.split}, best.us);
  return best;
}

// Returns the microseconds in which operands that the TMA cannot address are copied: of the bytes
// that are written.
inline double CopiesUs(double written_bytes, const DeviceModel& device) {
  constexpr double kLaunch = 1.09;
  constexpr double kBytesOfUs = 1.473e+06;
  constexpr double kGbpsOfFit = 3352;  // Of the H100 that it was fitted to.
  return kLaunch + written_bytes / kBytesOfUs * std::sqrt(kGbpsOfFit / device.memory_gbps);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
