// How a product is divided for the kernels of tensor cores, and how long each is expected to take.
// The constants are fitted to times measured on an H200 (docs/tensor_cores.md).

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

// A tile of TensorSplit or TensorGeneral, and the blocks of a cluster that divide its k extent.
struct TensorPlan {
  int rows = 0;  // Of the tile.
  int cols = 0;
  int split = 1;
  bool transposed = false;  // Tiles are those of C transposed.
  double us = 1e30;
};

// The time of a product in tiles, in microseconds:
//
//   fixed + tiles of the busiest multiprocessor, each tile + its k steps * step
//         + sums, times the blocks of a cluster, where there are two or more,
//
// and not less than fixed and what memory takes.
struct TensorCosts {
  double fixed;
  double tile;
  double step;   // Of 64 of k.
  double sums;   // First meeting of a cluster.
  double block;  // Each block of a cluster.
  double gbps;   // Bytes of operands and of C in a nanosecond.
};

inline double MemoryUs(const MatMulArgs& args, double gbps) {
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double of_a = m * k * (args.a.stride == 0 ? 1 : batch);
  const double of_b = n * k * (args.b.stride == 0 ? 1 : batch);
  return ((of_a + of_b) * ElementBytes(args.a.type) + m * n * batch * ElementBytes(args.c.type)) /
         gbps * 1e-3;
}

inline double TensorUs(const MatMulArgs& args, const DeviceModel& device, const TensorPlan& plan,
                       const TensorCosts& costs) {
  constexpr int kStep = 64;
  const int64_t rows = plan.transposed ? args.n : args.m;
  const int64_t cols = plan.transposed ? args.m : args.n;
  const int64_t tiles = CeilDiv(rows, plan.rows) * CeilDiv(cols, plan.cols) * args.batch;
  // Clusters of more than two leave multiprocessors of some groups idle.
  const int64_t usable = device.multiprocessors / plan.split * plan.split;
  const auto rounds = static_cast<double>(CeilDiv(tiles * plan.split, std::max<int64_t>(usable, 1)));
  const auto steps = static_cast<double>(CeilDiv(CeilDiv(args.k, kStep), plan.split));
  const double sums = plan.split == 1 ? 0 : costs.sums + costs.block * plan.split;
  return costs.fixed + std::max(rounds * (costs.tile + steps * costs.step) + sums,
                                MemoryUs(args, costs.gbps));
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

// PLANS

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PLAN_H_
