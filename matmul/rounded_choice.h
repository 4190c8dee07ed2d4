// Products of float whose operands are rounded to BF16 or FP16 first
// (matmul/library/rounded.sm80.cu): where the copies lie, which calls can have them, and where they
// pay beside TF32, which needs none.

#ifndef STRIDEWISE_MATMUL_ROUNDED_CHOICE_H_
#define STRIDEWISE_MATMUL_ROUNDED_CHOICE_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/split_choice.h"

namespace stridewise {

// Copies of two bytes for each element, in the layout that the operand has. Of the layouts' words
// for each row and column, which these have no use for, no memory is taken.
inline constexpr SplitForm kRoundedForm = {
    1, 2, 1, /*k_major=*/false, /*least_k=*/1, std::numeric_limits<int32_t>::max()};

// Returns the bytes of both copies, where B's begins, and behind which the product's own workspace
// lies.
inline int64_t RoundedBytesOfA(const MatMulArgs& args) {
  return SplitLayoutOfA(args, kRoundedForm).part_bytes;
}
inline int64_t RoundedBytes(const MatMulArgs& args) {
  return RoundedBytesOfA(args) + SplitLayoutOfB(args, kRoundedForm).part_bytes;
}

// Returns whether the operands of a call can be rounded into its workspace. Those that alpha or k
// say not to read are not.
bool CanRound(const MatMulArgs& args, const DeviceModel& device);

// Returns whether TF32 has a kernel of its own for so few rows or columns.
inline bool HasFewOfTf32(const MatMulArgs& args) {
  constexpr int64_t kFew = 128;
  return std::min(args.m, args.n) <= kFew;
}

// The microseconds that a call is predicted to take if its operands are rounded, and as TF32, whose
// products are half as fast and whose operands are read once. For compute capability 9.0.
struct RoundedTimes {
  double rounded, tf32;
};
RoundedTimes PredictRounded(const MatMulArgs& args, const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ROUNDED_CHOICE_H_
