// Divides numbers by a divisor that is the same for a whole launch: with one multiplication,
// where a GPU, which has no instruction for division, takes some twenty instructions.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_SMALL_DIVISOR_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_SMALL_DIVISOR_H_

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

// Quotient(n) is exact for n >= 0 with (n + 1) * divisor <= 2^32; see Robison, "N-bit unsigned
// division via N-bit multiply-add", ARITH 2005. REQUIRES: divisor > 0.
class SmallDivisor {
 public:
  explicit SmallDivisor(int64_t divisor)
      : factor_(static_cast<uint32_t>(0xffffffffu / static_cast<uint64_t>(divisor))) {}

  STRIDEWISE_HOST_DEVICE int Quotient(int n) const {
    return static_cast<int>((static_cast<uint32_t>(n) + 1) * uint64_t{factor_} >> 32);
  }

 private:
  uint32_t factor_;
};

// Divides any number below 2^31 by one multiplication; see Granlund and Montgomery, "Division by
// Invariant Integers using Multiplication", PLDI 1994. REQUIRES: 0 < divisor < 2^31.
class BlockDivisor {
 public:
  explicit BlockDivisor(uint32_t divisor = 1) {
    while ((uint64_t{1} << shift_) < divisor) ++shift_;
    const uint64_t above = (uint64_t{1} << shift_) - divisor;
    factor_ = static_cast<uint32_t>((above << 32) / divisor + 1);
  }
  STRIDEWISE_HOST_DEVICE uint32_t Quotient(uint32_t n) const {
    return (static_cast<uint32_t>(uint64_t{factor_} * n >> 32) + n) >> shift_;
  }

 private:
  uint32_t factor_;
  uint32_t shift_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_SMALL_DIVISOR_H_
