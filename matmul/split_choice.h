// What a product of split operands takes (matmul/library/split_fp16.sm90.cu): which calls, which
// tile, how much workspace, and how long.

#ifndef STRIDEWISE_MATMUL_SPLIT_CHOICE_H_
#define STRIDEWISE_MATMUL_SPLIT_CHOICE_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// The halves of an operand as it is stored, without gaps, and a word for each row of op(A) or
// column of op(B).
struct SplitLayout {
  int64_t count;       // Matrices of the batch that differ.
  int64_t out_ld;      // Elements from a row of a half to the next.
  int64_t lo, scales;  // Bytes from the first half to the second, and to the words.
  int64_t bytes;
};

SplitLayout SplitLayoutOfA(const MatMulArgs& args);
SplitLayout SplitLayoutOfB(const MatMulArgs& args);

// Returns the workspace of a call: little more than A and B take.
inline int64_t SplitWorkspaceBytes(const MatMulArgs& args) {
  return SplitLayoutOfA(args).bytes + SplitLayoutOfB(args).bytes;
}

// Returns whether a call can be split, given the workspace. From k = 128 on its error bound is
// below that of FP32 (docs/fp32_split.md).
bool CanSplit(const MatMulArgs& args, const DeviceModel& device);

// The tiles of 128 rows, by their columns.
enum class SplitTileCols { k64, k128, k192 };

struct SplitChoice {
  SplitTileCols tile;
  double us;  // With the split.
};

// Returns the fastest tile. REQUIRES: CanSplit().
SplitChoice ChooseSplit(const MatMulArgs& args, const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_SPLIT_CHOICE_H_
