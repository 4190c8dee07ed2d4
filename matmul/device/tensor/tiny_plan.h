// How tensor_tiny divides a product among threads, and how long it is expected to take: the
// constants are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TINY_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TINY_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

// Of a thread: steps of k whose loads are under way together.
constexpr int kTinyTogether = 8;
constexpr int kTinyLogMaxThreads = 10;
constexpr int kTinyLogMost = 5;  // Of columns and rows of a tile.

// The threads of a block, in powers of two. The lowest bits of a thread's number are neighbours
// along k, the next ones columns and rows of the tile, and the highest ones divide k once more.
struct TinyPlan {
  int log_threads = 5;
  int log_lanes = 0;  // Neighbours along k.
  int log_cols = 0;
  int log_rows = 0;
  bool transposed = false;  // Tiles are those of C transposed.
  double us = 1e30;

  int log_slices() const { return log_threads - log_cols - log_rows; }
};

// Returns whether the kernel takes the call: it counts extents, k and what lies between elements in
// 31 bits, and tiles as a grid does.
inline bool TensorTinyTakes(const MatMulArgs& args) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return std::max({args.m, args.n, args.k, args.a.ld, args.b.ld}) <= kMost &&
         args.batch <= kMaxGridYZ && std::min(args.m, args.n) <= kMaxGridYZ;
}

// Returns whether the kernel may be the fastest: it loads two elements for each multiplication.
inline bool IsTiny(const MatMulArgs& args) {
  constexpr double kMost = 5e7;
  return static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k) *
             static_cast<double>(args.batch) <=
         kMost;
}

// Returns the sectors of memory that a load of a warp touches, of `lines` rows or columns with
// `of_k` neighbours along k each.
inline int64_t TinySectors(int64_t lines, int64_t of_k, bool along_k) {
  constexpr int64_t kOfSector = 16;
  return along_k ? lines * CeilDiv(of_k, kOfSector) : of_k * CeilDiv(lines, kOfSector);
}

// Returns the time of a plan: the trips to memory of a thread's k, a warp's instructions and the
// sectors of its loads, and the sums of the parts of k.
inline double TinyUs(const MatMulArgs& args, const TinyPlan& plan) {
  constexpr double kFixed = 5.2;
  constexpr double kTrip = 0.8;
  constexpr double kWarp = 8;        // Instructions.
  constexpr double kWarpTrip = 118;  // Instructions.
  constexpr double kInstructionsOfUs = 132 * 3.6e3;
  constexpr double kSectorsOfUs = 132 * 1.8e3;
  constexpr double kBytesOfUs = 2.5e6;
  constexpr double kSlots = 132 * 2048;  // Threads that run at once.
  constexpr double kPart = 0.02;
  constexpr double kLane = 0.009;
  constexpr double kBlocks = 0.01 / 132;
  constexpr int64_t kLanesOfWarp = 32;
  const int64_t rows = plan.transposed ? args.n : args.m;
  const int64_t cols = plan.transposed ? args.m : args.n;
  const bool rows_along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  const bool cols_along_k = plan.transposed ? !args.a.transposed : args.b.transposed;
  const int64_t slices = int64_t{1} << plan.log_slices();
  const auto trips = static_cast<double>(CeilDiv(args.k, kTinyTogether * slices));
  const double blocks = static_cast<double>(CeilDiv(rows, int64_t{1} << plan.log_rows)) *
                        static_cast<double>(CeilDiv(cols, int64_t{1} << plan.log_cols)) *
                        static_cast<double>(args.batch);
  const int64_t threads = int64_t{1} << plan.log_threads;
  const double warps = blocks * static_cast<double>(threads) / static_cast<double>(kLanesOfWarp);
  const int64_t lanes = int64_t{1} << plan.log_lanes;
  const int64_t warp_cols = std::min(kLanesOfWarp / lanes, int64_t{1} << plan.log_cols);
  const int64_t warp_rows = std::min(kLanesOfWarp / lanes / warp_cols, int64_t{1} << plan.log_rows);
  const int64_t of_k = kLanesOfWarp / (warp_cols * warp_rows);
  const auto sectors = static_cast<double>(TinySectors(warp_rows, of_k, rows_along_k) +
                                           TinySectors(warp_cols, of_k, cols_along_k));
  const double bytes = 2.0 * static_cast<double>(args.batch) *
                       static_cast<double>(args.m * args.k + args.n * args.k + args.m * args.n);
  const double waves = std::max(1.0, blocks * static_cast<double>(threads) / kSlots);
  const double busy =
      std::max(warps * (kWarp + trips * kWarpTrip) / kInstructionsOfUs,
               warps * static_cast<double>(CeilDiv(args.k, slices)) * sectors / kSectorsOfUs);
  const int parts = 1 << (plan.log_slices() - plan.log_lanes);
  return kFixed + std::max(bytes / kBytesOfUs, trips * kTrip * waves + busy) + kPart * parts +
         kLane * plan.log_lanes + kBlocks * blocks;
}

// Returns the threads of a block for a call that TensorTinyTakes().
inline TinyPlan PlanTensorTiny(const MatMulArgs& args) {
  constexpr int kLogThreads[] = {5, 7, 8, 10};
  constexpr int kLogLanes[] = {0, 2, 3, 5};
  constexpr int kLogWarp = 5;
  const bool along_k = !args.a.transposed || args.b.transposed;
  TinyPlan best;
  TinyPlan plan;
  for (const bool transposed : {false, true}) {
    plan.transposed = transposed;
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t cols = transposed ? args.m : args.n;
    for (int log_cols = 0; log_cols <= kTinyLogMost && (log_cols == 0 || 1 << log_cols < 2 * cols);
         ++log_cols) {
      if (CeilDiv(cols, int64_t{1} << log_cols) > kMaxGridYZ) continue;
      plan.log_cols = log_cols;
      for (int log_rows = 0;
           log_rows <= kTinyLogMost && (log_rows == 0 || 1 << log_rows < 2 * rows); ++log_rows) {
        plan.log_rows = log_rows;
        const int log_outs = log_cols + log_rows;
        for (const int log_threads : kLogThreads) {
          if (log_outs > log_threads) continue;
          plan.log_threads = log_threads;
          // More threads than k has use, beyond those of a warp, only cost.
          if (log_threads > kLogWarp && int64_t{1} << (log_threads - log_outs) > 2 * args.k) break;
          for (const int log_lanes : kLogLanes) {
            if (log_lanes > log_threads - log_outs || (log_lanes > 0 && !along_k)) break;
            plan.log_lanes = log_lanes;
            plan.us = TinyUs(args, plan);
            if (plan.us < best.us) best = plan;
          }
        }
      }
    }
  }
  return best;
}

// Returns the time of the kernel with the threads that it takes.
inline double TensorTinyUs(const MatMulArgs& args, const DeviceModel& device) {
  const TinyPlan plan = PlanTensorTiny(args);
  return Corrected(TensorPredicted::kTiny, args, device,
                   {int64_t{1} << plan.log_rows, int64_t{1} << plan.log_cols,
                    int64_t{1} << plan.log_lanes, int64_t{1} << plan.log_slices(), plan.transposed},
                   plan.us);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TINY_PLAN_H_
