// How an INT8 product with up to 64 rows or columns is divided for the kernel of decode.h, and how
// long that is expected to take.

#ifndef STRIDEWISE_MATMUL_DEVICE_FEW_INT8_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_FEW_INT8_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

// The columns of a tile.
constexpr int kFewInt8Cols[] = {64, 128};

// Returns the rows of a stage that the few have, which lie along k.
inline int FewInt8Rows(int64_t few) {
  return static_cast<int>(CeilDiv(few, int64_t{kDecodeFewStep})) * kDecodeFewStep;
}

// Returns the blocks of a multiprocessor: two where not all tiles of 64 columns that nobody divides
// have one of their own.
inline int FewInt8Resident(int64_t tiles, int cols, int split, const DeviceModel& device) {
  return split == 1 && cols == kFewInt8Cols[0] && tiles > device.multiprocessors ? 2 : 1;
}

// Returns the stages of a block with this number of steps: a few steps are faster with six, 1 x
// 4096 x 4096 by 14.5 us and not 15.3.
inline int FewInt8Stages(int cols, int stage_bytes, int resident, int64_t steps) {
  constexpr int kFewSteps = 20;
  constexpr int kOfFewSteps = 6;
  const int stages = DecodeStages(cols, stage_bytes, 0, resident);
  return steps > kFewSteps ? stages : std::min(stages, kOfFewSteps);
}

// Returns the plan that is expected to be the fastest; without columns where the call has more than
// 64 rows and columns.
inline DecodePlan PlanFewInt8(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kFixed = 8.1;
  constexpr double kMemory = 1.05;        // Times what memory takes.
  constexpr double kOffLines = 1.35;      // Times where rows begin within lines of the L2.
  constexpr double kBytesOfUs = 9.168e4;  // Of a multiprocessor, from the L2.
  constexpr double kLine = 0.00124;       // Of a box.
  constexpr double kAnswer = 1.5;         // Until a stage that was asked for is there.
  constexpr double kBlock = 0.257;        // Of a cluster.
  constexpr double kAdd = 0.0015;         // Of 1000 elements of C, for each block of a cluster.
  constexpr int64_t kStepBytes = 128;     // Of k.
  DecodePlan best;
  if (!TensorDecodeTakes(args)) return best;
  best.transposed = args.n < args.m;
  const int64_t few = std::min(args.m, args.n);
  const int64_t many = std::max(args.m, args.n);
  const int64_t steps = CeilDiv(args.k, kStepBytes);
  const double off = args.k % kStepBytes == 0 ? 1 : kOffLines;
  const double memory = kMemory * off * MemoryUs(args, device);
  const auto elements = static_cast<double>(args.m) * static_cast<double>(args.n * args.batch);
  for (const int cols : kFewInt8Cols) {
    const int64_t tiles = CeilDiv(many, int64_t{cols}) * args.batch;
    const int stage_bytes = DecodeStageBytes(FewInt8Rows(few), cols);
    for (const int split : {1, 2, 3, 4}) {
      if (split > steps) break;
      const int resident = FewInt8Resident(tiles, cols, split, device);
      const auto rounds = static_cast<double>(
          CeilDiv(tiles, ClustersAtOnce(split, resident, device.multiprocessors)));
      const double step = std::max({stage_bytes / kBytesOfUs * resident,
                                    (FewInt8Rows(few) + cols) * kLine * resident,
                                    kAnswer / DecodeStages(cols, stage_bytes, 0, resident)});
      const double sums = split == 1 ? 0 : split * (kBlock + 1e-3 * kAdd * elements);
      const double us =
          kFixed + sums +
          std::max(memory, rounds * static_cast<double>(CeilDiv(steps, int64_t{split})) * step);
      if (us < best.us) best = {cols, split, resident, best.transposed, us};
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FEW_INT8_PLAN_H_
