// How tensor_vector divides a product, and how long it is expected to take: the constants are
// fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_PLAN_H_

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

constexpr int kVectorThreads = 256;
constexpr int kVectorChunk = 8;  // Elements of 16 bytes.

// X's columns of a block: where its lines are those of k they lie within 16 lanes' vectors wherever
// the first of them begins; where its lines lie along k, each of 8 warps has four.
constexpr int kVectorLanes = 16;
constexpr int kVectorCols = kVectorLanes * kVectorChunk - (kVectorChunk - 1);
constexpr int kVectorLinesOfWarp = 4;
constexpr int kVectorLines = kVectorThreads / 32 * kVectorLinesOfWarp;

// The most of k where a block has y in registers: two vectors of each thread. With eight of them
// the conversions take longer than the loads, 40.9 us of 1 x 4096 x 14336 on an H200.
constexpr int kVectorMostAligned = kVectorThreads * kVectorChunk * 2;

struct VectorPlan {
  bool along_k = false;
  bool aligned = false;  // Along k, and all lines and y begin at multiples of 16 bytes.
  int parts = 1;         // Blocks of a cluster, which divide k.
  double us = 1e30;
};

// Returns whether the kernel takes the call: a single row or column.
inline bool TensorVectorTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return (args.m == 1 || args.n == 1) && args.k <= kMost && std::max(args.m, args.n) <= kMost &&
         args.batch <= kMaxGridYZ;
}

// Returns whether X's lines, along k, are whole vectors, and so is y.
inline bool IsAlignedVector(const MatMulArgs& args) {
  const bool is_row = args.m == 1;
  const MatMulInput& x = is_row ? args.b : args.a;
  const MatMulInput& y = is_row ? args.a : args.b;
  const bool y_along_k = y.transposed != is_row || y.ld == 1;
  const auto whole = [](const MatMulInput& input) {
    return reinterpret_cast<uintptr_t>(input.data) % 16 == 0 && input.stride % kVectorChunk == 0;
  };
  return x.transposed == is_row && y_along_k && args.k % kVectorChunk == 0 && args.k > 0 &&
         args.k <= kVectorMostAligned && x.ld % kVectorChunk == 0 && whole(x) && whole(y);
}

inline VectorPlan PlanTensorVector(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 4.8;
  constexpr double kMemory = 1.4;  // Times what memory takes at its full rate.
  constexpr double kCluster = 2.1;
  constexpr double kTile = 1.65;
  constexpr double kStepOfColumns = 1.15;  // 64 of k.
  constexpr double kStepOfLines = 1.05;    // 256 of k.
  constexpr double kBusy = 0.36;           // Either for each block of a multiprocessor.
  // On an H200 memory is faster than the kernel's instructions: times all of these.
  constexpr double kOfLines = 1.5;
  constexpr double kOfColumns = 1.25;
  constexpr int64_t kResident = 4;
  const bool is_row = args.m == 1;
  const MatMulInput& x = is_row ? args.b : args.a;
  const int64_t cols = is_row ? args.n : args.m;
  VectorPlan best;
  VectorPlan plan;
  plan.along_k = x.transposed == is_row || (cols == 1 && x.ld == 1);
  const int max_parts = device.compute_capability < 90 ? 1 : 16;
  const int64_t tiles = CeilDiv(cols, plan.along_k ? kVectorLines : kVectorCols) * args.batch;
  const int64_t steps = std::max<int64_t>(1, CeilDiv(args.k, plan.along_k ? 256 : 64));
  for (const int parts : {1, 2, 3, 4, 6, 8, 12, 16}) {
    if (parts > max_parts || (parts > 1 && parts > steps)) break;
    plan.parts = parts;
    const int64_t slots = parts == 1 ? kResident * std::max(1, device.multiprocessors)
                                     : ClustersAtOnce(parts, kResident, device.multiprocessors);
    const double fill = static_cast<double>(tiles) / static_cast<double>(slots);
    const double step = std::max(plan.along_k ? kStepOfLines : kStepOfColumns,
                                 kBusy * std::min(1.0, fill) * static_cast<double>(kResident));
    plan.us = kFixed + (parts > 1 ? kCluster : 0) +
              (plan.along_k ? kOfLines : kOfColumns) *
                  std::max(kMemory * MemoryUs(args, device),
                           std::max(1.0, std::ceil(fill)) *
                               (kTile + static_cast<double>(CeilDiv(steps, parts)) * step));
    if (plan.us < best.us) best = plan;
  }
  if (plan.along_k && IsAlignedVector(args)) {
    constexpr double kAligned = 0.93;  // Times what memory takes.
    constexpr double kLine = 0.48;     // Of the lines that a block takes in turn.
    const auto rounds = static_cast<double>(
        CeilDiv(cols * args.batch, int64_t{kResident} * std::max(1, device.multiprocessors)));
    plan.aligned = true;
    plan.parts = 1;
    plan.us = kFixed + std::max(0.9 + kAligned * MemoryUs(args, device), 1.2 + kLine * rounds);
    if (plan.us < best.us) best = plan;
  }
  best.us = Corrected(TensorPredicted::kVector, args, device,
                      {0, 0, best.aligned ? 1 : 0, best.parts, best.along_k}, best.us);
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_PLAN_H_
