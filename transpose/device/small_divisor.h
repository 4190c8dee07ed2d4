// Divides small numbers by a divisor that is the same for a whole launch: with one multiplication,
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

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_SMALL_DIVISOR_H_
