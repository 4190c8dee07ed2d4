// What the schemes have in common whose parts have FP32's exponents: BF16 (split_triple.h) and TF32
// (split_tf32.h). No part of an element runs out of them, however far it is from the largest of its
// row, but for elements that nothing but denormal products is left of.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_WIDE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_WIDE_H_

#include <cmath>

#include "matmul/device/split_scheme.h"

namespace stridewise {

struct WideParts {
  // Not zero and below this, as scaled, an element is poor: the small products of two such numbers
  // are less than 2^34 times smaller than that of the large, and so stay normal.
  static constexpr float kLeastElement = 0x1p-46F;

  struct Counts {
    int poor_x = 0, poor_y = 0;

    STRIDEWISE_HOST_DEVICE void Add(ScaledElement x, ScaledElement y) {
      poor_x += IsPoor(x) ? 1 : 0;
      poor_y += IsPoor(y) ? 1 : 0;
    }
    STRIDEWISE_HOST_DEVICE static int LargeX() { return 0; }
    STRIDEWISE_HOST_DEVICE static int LargeY() { return 0; }
    STRIDEWISE_HOST_DEVICE int PoorX() const { return poor_x; }
    STRIDEWISE_HOST_DEVICE int PoorY() const { return poor_y; }
  };

  // A poor element takes all that it meets to the FP32 units.
  STRIDEWISE_HOST_DEVICE static int Range(int /*large*/, int poor, int /*k*/) {
    return poor > 0 ? kNoSplit : 0;
  }

 private:
  STRIDEWISE_HOST_DEVICE static bool IsPoor(ScaledElement x) {
    return std::abs(x.value) < kLeastElement && (x.value != 0 || x.IsLost());
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_WIDE_H_
