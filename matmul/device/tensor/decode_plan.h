// How a product with up to 64 rows or columns is divided for TensorDecode, and how long that is
// expected to take: the constants are fitted to times measured on an H200 with a cold L2.

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

// Returns the rows of 128 bytes of the few's part of a stage. Few that do not lie along k come as
// 64 lines, one of each k, of 32, 64 or 128 bytes; or where these have 16 bytes and follow each
// other without gaps, as 8 whole ones: 8 x 4096 x 4096 takes 14.4 us so, and with lines of 128
// bytes, most of which is not there, 20.
inline int DecodeFewRows(const MatMulInput& input, int64_t few, int64_t k, bool few_along_k) {
  if (few_along_k) return static_cast<int>(CeilDiv(few, int64_t{kDecodeFewStep})) * kDecodeFewStep;
  const bool without_gaps = few == kDecodeFewStep && input.ld == kDecodeFewStep;
  if (without_gaps && k % kDecodeFewStep == 0) return kDecodeFewStep;
  for (const int rows : {kDecodeFew / 4, kDecodeFew / 2}) {
    if (few <= rows) return rows;
  }
  return kDecodeFew;
}

// Returns the tiles whose blocks begin at the same step, 0 for all. Else all blocks ask the same
// parts of the L2 for the same few lines, at the same time: 16 rows that do not lie along k take
// 0.95 of the time where every four tiles begin elsewhere, and 64, which are whole lines, 1.02.
constexpr int DecodeTilesInStep(int64_t few, int few_rows, bool few_along_k, bool many_along_k) {
  constexpr int kTiles = 4;
  const bool parts_of_lines = !few_along_k && few_rows > kDecodeFewStep && few < kDecodeFew;
  return parts_of_lines || (many_along_k && few <= kDecodeFew / 2) ? kTiles : 0;
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

// What a tile of TensorDecode costs, in microseconds. Those of 16 bits have corrections besides.
struct DecodeCost {
  double fixed;
  double memory;  // Times what memory takes,
  double memory_along_k;
  double bytes_of_us;  // Of a multiprocessor, from the L2.
  double line;         // Of a box.
  double answer;       // Until a stage that was asked for is there.
  double block;        // Of a cluster.
  double least;        // Of small products, most of it the start of the kernel.
};
constexpr DecodeCost kDecodeCost = {7.95, 0.962, 1.08, 9.168e+04, 0.00124, 1.07, 0.257, 7.3};
constexpr DecodeCost kDecodeTf32Cost = {6.975, 0.864, 0.9, 75.56e3, 1.467e-3, 1.62, 0.18, 7.3};

// Returns the tile, one of `all_cols`, and split of TensorDecode. All of its blocks run at once:
// `us` is huge where there is no tile with which they do.
template <int kSizes>
DecodePlan PlanTensorDecode(const MatMulArgs& args, const DeviceModel& device,
                            const int (&all_cols)[kSizes]) {
  const bool is_16_bit = ElementBytes(args.a.type) == 2;
  const DecodeCost& cost = is_16_bit ? kDecodeCost : kDecodeTf32Cost;
  DecodePlan best;
  best.transposed = args.n < args.m;
  const int64_t many = best.transposed ? args.m : args.n;
  const bool many_along_k = best.transposed ? !args.a.transposed : args.b.transposed;
  const bool few_along_k = best.transposed ? args.b.transposed : !args.a.transposed;
  const int few_rows = DecodeFewRows(best.transposed ? args.b : args.a, std::min(args.m, args.n),
                                     args.k, few_along_k);
  const int64_t steps = CeilDiv(args.k * ElementBytes(args.a.type), int64_t{kTensorStep} * 2);
  const int few_lines = few_along_k || few_rows == kDecodeFewStep ? few_rows : kTensorStep;
  const double memory = (many_along_k ? cost.memory_along_k : cost.memory) * MemoryUs(args, device);
  for (const int cols : all_cols) {
    if (cols > kDecodeCols[0] && !many_along_k) break;
    const int64_t tiles = CeilDiv(many, int64_t{cols}) * args.batch;
    const int stage_bytes = DecodeStageBytes(few_rows, cols);
    for (const int split : {1, 2, 3, 4}) {
      // Two blocks of a multiprocessor load as much as one. 16 x 14336 x 4096 takes 32.4 us so.
      const bool two = split == 1 && cols == kDecodeCols[0] && tiles > device.multiprocessors;
      const int resident = two ? 2 : 1;
      if (split > steps || tiles > ClustersAtOnce(split, resident, device.multiprocessors)) break;
      const double step =
          std::max({stage_bytes / cost.bytes_of_us * resident,
                    (few_lines + std::max(cols, kTensorStep)) * cost.line * resident,
                    cost.answer / DecodeStages(cols, stage_bytes, 0, resident)});
      const double sums = split == 1 ? 0 : cost.block * split;
      const double planned = std::max(
          cost.least,
          cost.fixed + sums +
              std::max(memory, static_cast<double>(CeilDiv(steps, int64_t{split})) * step));
      const double us = is_16_bit ? Corrected(TensorPredicted::kDecode, args, device,
                                              {0, cols, resident, split, best.transposed}, planned)
                                  : planned;
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
