// How a product with up to 64 rows or columns is divided for TensorDecode, and how long that is
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

// The most rows or columns of C that are the few: the rows of an instruction. A stage has a
// multiple of kDecodeFewStep of them.
constexpr int kDecodeFew = 64;
constexpr int kDecodeFewStep = 8;
constexpr int kDecodeMaxStages = 16;

// The tile's columns, and the blocks of a cluster that divide its k extent.
struct DecodePlan {
  int cols = 0;
  int split = 1;
  int resident = 1;         // Blocks of a multiprocessor.
  bool transposed = false;  // The few are columns of C.
  double us = 1e30;
};

// Returns whether TensorDecode takes a call whose operands the TMA can address.
inline bool TensorDecodeTakes(const MatMulArgs& args) {
  return std::min(args.m, args.n) <= kDecodeFew;
}

// Returns the rows of the few's part of a stage: all 64 where lines of k lie in it.
constexpr int DecodeFewRows(int64_t few, bool few_along_k) {
  return few_along_k ? static_cast<int>(CeilDiv(few, int64_t{kDecodeFewStep})) * kDecodeFewStep
                     : kDecodeFew;
}

// Returns the bytes of a stage of a tile with `cols` columns.
constexpr int DecodeStageBytes(int few_rows, int cols) {
  constexpr int kRowBytes = 128;
  return (few_rows + cols) * kRowBytes;
}

// The tiles' columns: a few sizes, so that for any size of the large operand there is one whose
// tiles, times a split, are nearly as many as there are multiprocessors. Where it does not lie
// along k only the first: panels of 64 that are loaded for a part of them cost more than is won.
constexpr int kDecodeCols[] = {64, 96, 112, 224};
// Of floats, multiplied as TF32, the instruction has these.
constexpr int kDecodeTf32Cols[] = {64, 128};

// Returns the stages of a block, beside what it is sent. More than eight are slower with the
// narrowest tiles, and six are enough for one of two blocks.
inline int DecodeStages(int cols, int stage_bytes, int sent_bytes, int resident) {
  constexpr int kMostBytes = 224 * 1024;
  constexpr int kNarrow = 8;
  constexpr int kOfTwo = 6;
  const int most = resident == 2 ? kOfTwo : cols == kDecodeCols[0] ? kNarrow : kDecodeMaxStages;
  return std::min(most, (kMostBytes - sent_bytes) / stage_bytes);
}

// Returns the tile, one of `all_cols`, and split of TensorDecode. All of its blocks run at once:
// `us` is huge where there is no tile with which they do.
template <int kSizes>
DecodePlan PlanTensorDecode(const MatMulArgs& args, const DeviceModel& device,
                            const int (&all_cols)[kSizes]) {
  constexpr double kFixed = 3.7;
  constexpr double kMemory = 0.95;     // Times what memory takes.
  constexpr double kBytesOfUs = 76e3;  // Of a multiprocessor, from the L2.
  // Until a stage that was asked for is there: 64 blocks with eight stages of 9 KB each take 16.8
  // us for 8 x 4096 x 4096, and 128 in clusters of two 14.6.
  constexpr double kAnswer = 1.4;
  constexpr double kTrip = 1.66;  // Until memory answers at its full rate.
  constexpr double kCluster = 0.74;
  constexpr double kBlock = 0.18;
  constexpr double kLeast = 7.3;  // Of small products, most of it the start of the kernel.
  DecodePlan best;
  best.transposed = args.n < args.m;
  const int64_t many = best.transposed ? args.m : args.n;
  const bool many_along_k = best.transposed ? !args.a.transposed : args.b.transposed;
  const bool few_along_k = best.transposed ? args.b.transposed : !args.a.transposed;
  const int few_rows = DecodeFewRows(std::min(args.m, args.n), few_along_k);
  const int64_t steps = CeilDiv(args.k * ElementBytes(args.a.type), int64_t{kTensorStep} * 2);
  const double memory = kTrip + kMemory * MemoryUs(args, device);
  for (const int cols : all_cols) {
    if (cols > kDecodeCols[0] && !many_along_k) break;
    const int64_t tiles = CeilDiv(many, int64_t{cols}) * args.batch;
    const int stage_bytes = DecodeStageBytes(few_rows, cols);
    for (const int split : {1, 2, 3, 4}) {
      // Two blocks of a multiprocessor load as much as one: for so few rows that they still arrive
      // as fast as memory sends the large operand. 16 x 14336 x 4096 takes 32.4 us so.
      const bool two = split == 1 && cols == kDecodeCols[0] && few_rows <= kDecodeFew / 4 &&
                       tiles > device.multiprocessors;
      const int resident = two ? 2 : 1;
      if (split > steps || tiles > ClustersAtOnce(split, resident, device.multiprocessors)) break;
      const double loads =
          static_cast<double>(CeilDiv(steps, int64_t{split})) * stage_bytes * resident;
      const double under_way = static_cast<double>(DecodeStages(cols, stage_bytes, 0, resident)) *
                               stage_bytes * resident;
      const double bytes_of_us = std::min(kBytesOfUs, under_way / kAnswer);
      const double sums = split == 1 ? 0 : kCluster + kBlock * split;
      const double us =
          std::max(kLeast, kFixed + sums + std::max(memory, kTrip + loads / bytes_of_us));
      if (us < best.us) best = {cols, split, resident, best.transposed, us};
    }
  }
  return best;
}
inline DecodePlan PlanTensorDecode(const MatMulArgs& args, const DeviceModel& device) {
  return PlanTensorDecode(args, device, kDecodeCols);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_PLAN_H_
