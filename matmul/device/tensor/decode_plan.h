// How a product with 33 to 64 rows or columns is divided for TensorDecode, and how long that is
// expected to take: the constants are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

// The most rows or columns of C that are the few. Half as many are not faster than by TensorSplit.
constexpr int kDecodeFew = 64;
// 16 stages are slower.
constexpr int kDecodeMaxStages = 8;

// The tile's columns, and the blocks of a cluster that divide its k extent.
struct DecodePlan {
  int cols = 0;
  int split = 1;
  bool transposed = false;  // The few are columns of C.
  double us = 1e30;
};

// Returns whether TensorDecode takes a call whose operands the TMA can address.
inline bool TensorDecodeTakes(const MatMulArgs& args) {
  const int64_t few = std::min(args.m, args.n);
  return few > kDecodeFew / 2 && few <= kDecodeFew;
}

// Returns the bytes of a stage of a tile with `cols` columns.
constexpr int DecodeStageBytes(int cols) {
  constexpr int kRowBytes = 128;
  return (kDecodeFew + cols) * kRowBytes;
}

inline int DecodeStages(int stage_bytes) {
  constexpr int kMostBytes = 224 * 1024;
  return std::min(kDecodeMaxStages, kMostBytes / stage_bytes);
}

// The tiles' columns: a few sizes, so that for any size of the large operand there is one whose
// tiles, times a split, are nearly as many as there are multiprocessors. Where it does not lie
// along k only the first: panels of 64 that are loaded for a part of them cost more than is won.
constexpr int kDecodeCols[] = {64, 96, 112, 224};

// Returns the tile and split of TensorDecode. All of its blocks run at once: `us` is huge where
// there is no tile with which they do.
inline DecodePlan PlanTensorDecode(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 5.8;
  constexpr double kBytesOfUs = 76e3;  // Of a multiprocessor, from the L2.
  constexpr double kTrip = 1.66;       // Until memory answers at its full rate.
  constexpr double kCluster = 0.74;
  constexpr double kBlock = 0.18;
  DecodePlan best;
  best.transposed = args.n < args.m;
  const int64_t many = best.transposed ? args.m : args.n;
  const bool many_along_k = best.transposed ? !args.a.transposed : args.b.transposed;
  const int64_t steps = CeilDiv(args.k, int64_t{kTensorStep});
  const double memory = kTrip + MemoryUs(args, device);
  for (const int cols : kDecodeCols) {
    if (cols > kDecodeCols[0] && !many_along_k) break;
    const int64_t tiles = CeilDiv(many, int64_t{cols}) * args.batch;
    const int stage_bytes = DecodeStageBytes(cols);
    for (const int split : {1, 2, 3, 4}) {
      if (split > steps || tiles > ClustersAtOnce(split, 1, device.multiprocessors)) break;
      const double loads = static_cast<double>(CeilDiv(steps, int64_t{split})) * stage_bytes;
      const double sums = split == 1 ? 0 : kCluster + kBlock * split;
      const double us = kFixed + sums + std::max(memory, kTrip + loads / kBytesOfUs);
      if (us < best.us) best = {cols, split, best.transposed, us};
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_PLAN_H_
