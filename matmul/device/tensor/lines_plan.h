// How a product with up to 16 rows or columns is divided for TensorLines, and how long that is
// expected to take: the constants are fitted to times measured on an H100 with a cold L2.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

constexpr int kLinesWarps = 16;     // That multiply.
constexpr int kLinesTogether = 8;   // Of the many, of a stage: the columns of an instruction.
constexpr int kLinesFew = 16;       // The rows of an instruction.
constexpr int kLinesChunk = 32;     // Of k, of two instructions.
constexpr int kLinesMaxChunks = 8;  // Of a warp: of the few they take 64 of its registers.
constexpr int kLinesMaxStages = 16;
constexpr int kLinesSums = kLinesFew * kLinesTogether;  // Of a warp and a stage.

// The 32s of k of a warp.
struct LinesPlan {
  int chunks = 0;  // 0: none.
  int stages = 0;
  int64_t blocks = 0;       // Each takes every `blocks`th eight of the many.
  bool transposed = false;  // The few are rows of C.
  double us = 1e30;

  // 64 bytes more than what warps read: eight lines then begin in different banks.
  int PitchBytes() const { return chunks * kLinesChunk * kLinesWarps * 2 + 64; }
  int StageBytes() const { return kLinesTogether * PitchBytes(); }
  int SharedBytes() const {
    constexpr int kBarriers = 2 * kLinesMaxStages * 8;
    return kBarriers + 2 * kLinesWarps * kLinesSums * 4 + stages * StageBytes();
  }
};

// Returns the plan of a call whose operands the TMA can address, and whose many lie along k; the
// few do, or are eight or sixteen. A single product alone: with a batch a block would need the few
// of each.
//
// Where memory is faster than the blocks it leaves the call to others: 1 x 14336 x 4096 takes 43.7
// us on an H100, of whose 3.35 TB/s that is 37, and 35.3 on an H200, of whose 4.81 it would be 26.
inline LinesPlan PlanTensorLines(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 6.5;
  constexpr double kMemory = 0.955;    // Of the time of MemoryUs().
  constexpr double kOfFew = 0.016;     // To load one of the few's 1024 of k.
  constexpr double kBytesOfUs = 31e3;  // Of a multiprocessor.
  // Three stages of 4096 of k, for which there is room, take 46.5 us for 16 x 14336 x 4096 on an
  // H100, and two take 44.7.
  constexpr int kUnderWayBytes = 136 * 1024;
  constexpr int64_t kLeastDepth = 1024;  // A stage arrives faster than its sums meet.
  LinesPlan plan;
  plan.transposed = args.m <= args.n;
  const int64_t few = plan.transposed ? args.m : args.n;
  const int64_t many = plan.transposed ? args.n : args.m;
  const bool few_along_k = plan.transposed ? !args.a.transposed : args.b.transposed;
  const bool many_along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  const int64_t chunks = CeilDiv(args.k, int64_t{kLinesChunk} * kLinesWarps);
  if (args.batch != 1 || few > kLinesFew || !many_along_k || (!few_along_k && few % 8 != 0) ||
      args.k % 8 != 0 || args.k < kLeastDepth || chunks > kLinesMaxChunks) {
    return plan;
  }
  plan.chunks = static_cast<int>(chunks);
  plan.stages = std::min(kLinesMaxStages, kUnderWayBytes / plan.StageBytes());
  const int64_t groups = CeilDiv(many, int64_t{kLinesTogether});
  plan.blocks = std::min<int64_t>(groups, device.multiprocessors);
  // Where few lines are left for a last round, others have memory's rate for themselves.
  const auto rounds = static_cast<double>(CeilDiv(groups, plan.blocks));
  const double idle = rounds * static_cast<double>(plan.blocks) / static_cast<double>(groups);
  const double memory = kMemory * MemoryUs(args, device) * (1 + 0.3 * (idle - 1));
  const double blocks = static_cast<double>(plan.blocks) / device.multiprocessors;
  const double loads =
      static_cast<double>(groups * plan.StageBytes()) / static_cast<double>(plan.blocks);
  plan.us = kFixed + kOfFew * static_cast<double>(args.k * few) / 1024 +
            std::max(memory / std::min(1.0, blocks / 0.85), loads / kBytesOfUs);
  plan.us = Corrected(TensorPredicted::kLines, args, device, PlannedTiles(), plan.us);
  return plan;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_PLAN_H_
