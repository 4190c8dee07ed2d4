// What a product of split operands takes (matmul/device/split_launch.h): which calls, which tile,
// how much workspace, and how long.

#ifndef STRIDEWISE_MATMUL_SPLIT_CHOICE_H_
#define STRIDEWISE_MATMUL_SPLIT_CHOICE_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// A scheme: how many narrower numbers a float becomes, and how many products of them are summed.
struct SplitForm {
  int parts;
  int part_bytes;        // Of an element.
  int products;          // Those of a faster type count as less.
  bool k_major = false;  // Parts are stored K-major, whatever the operands are.
  // From least_k on the error bound is below that of FP32 (docs/fp32_split.md). Up to most_k counts
  // of elements fit (matmul/device/split_scheme.h), and sums of integers.
  int64_t least_k = 128;
  int64_t most_k = int64_t{1} << 18;
  bool mixed = false;  // The second part is of another type (matmul/device/split_fp8.h).
};
inline constexpr SplitForm kFp16PairForm = {2, 2, 3, /*k_major=*/false, /*least_k=*/66};
inline constexpr SplitForm kBf16SixForm = {3, 2, 6};
inline constexpr SplitForm kBf16NineForm = {3, 2, 9};
inline constexpr SplitForm kTf32PairForm = {2, 4, 3, true};
inline constexpr SplitForm kInt8SliceForm = {3, 1, 6, true, 2048, int64_t{1} << 15};
// One product of FP16 and two of twice the rate.
inline constexpr SplitForm kFp16AndFp8Form = {2, 2, 2, true, 128, int64_t{1} << 18, true};

// The parts of an operand as it is stored, without gaps, and a word for each row of op(A) or
// column of op(B).
struct SplitLayout {
  int64_t count;       // Matrices of the batch that differ.
  int64_t out_ld;      // Elements from a row of a part to the next.
  int64_t part_bytes;  // From a part to the next.
  int64_t scales;      // Bytes from the first part to the words.
  int64_t bytes;
};

SplitLayout SplitLayoutOfA(const MatMulArgs& args, const SplitForm& form = kFp16PairForm);
SplitLayout SplitLayoutOfB(const MatMulArgs& args, const SplitForm& form = kFp16PairForm);

// Returns the workspace of a call: of pairs of FP16, little more than A and B take.
inline int64_t SplitWorkspaceBytes(const MatMulArgs& args, const SplitForm& form = kFp16PairForm) {
  return SplitLayoutOfA(args, form).bytes + SplitLayoutOfB(args, form).bytes;
}

// Returns whether a call can be split, given the workspace.
bool CanSplit(const MatMulArgs& args, const DeviceModel& device,
              const SplitForm& form = kFp16PairForm);

// Of a call that is split into INT8 or, into the same memory, pairs of FP16, as its rows allow
// (matmul/library/split_flat.sm90.cu): the bytes of either, and with the word that says which.
inline int64_t FlatPartsBytes(const MatMulArgs& args) {
  return std::max(SplitWorkspaceBytes(args, kInt8SliceForm), SplitWorkspaceBytes(args));
}
inline int64_t FlatWorkspaceBytes(const MatMulArgs& args) {
  constexpr int64_t kWordBytes = 4;
  return FlatPartsBytes(args) + kWordBytes;
}

// Returns whether a call can be one or the other, given the workspace.
bool CanSplitFlat(const MatMulArgs& args, const DeviceModel& device);

// The tiles of 128 rows, by their columns. Of 192 columns, and where it says so of 128, two blocks
// below each other share B.
enum class SplitTileCols { k64, k128, k192, k128InPairs };

struct SplitChoice {
  SplitTileCols tile;
  double us;  // With the split.
};

// Returns the fastest tile. Three parts have none of 192 columns, those of INT8 only that of 128,
// those of FP16 and FP8 none of 64, and only pairs of FP16 that in pairs. REQUIRES: CanSplit().
SplitChoice ChooseSplit(const MatMulArgs& args, const DeviceModel& device,
                        const SplitForm& form = kFp16PairForm);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_SPLIT_CHOICE_H_
