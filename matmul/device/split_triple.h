// The three BF16 numbers that a float becomes. BF16 has FP32's exponents, and three times its 8
// bits are FP32's 24: the triple is the float.
//
// A scaled element x becomes hi + mid + lo, each the BF16 number nearest to what is left; nothing
// is left of elements from kLeastElement on. docs/fp32_split.md has the bound of the products.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_

#include <cmath>

#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"

namespace stridewise {

// kProducts: 9, or 6 without mid * lo, lo * mid and lo * lo.
template <int kProducts>
struct Bf16Triple {
  static_assert(kProducts == 6 || kProducts == 9, "products of three parts");
  using Element = SplitBf16;
  using Two = TwoBf16;
  using Sum = float;
  static constexpr SplitForm kForm = kProducts == 6 ? kBf16SixForm : kBf16NineForm;
  static constexpr int kMostOrder = kProducts == 6 ? 2 : 4;
  static constexpr uint32_t kExponentSlack = 0;

  // Not zero and below this, as scaled, an element is poor: the small products of two such numbers
  // are less than 2^34 times smaller than that of the large, and so stay normal.
  static constexpr float kLeastElement = 0x1p-46F;

  struct Counts {
    int poor_x = 0, poor_y = 0;

    STRIDEWISE_HOST_DEVICE static int LargeX() { return 0; }
    STRIDEWISE_HOST_DEVICE static int LargeY() { return 0; }
    STRIDEWISE_HOST_DEVICE int PoorX() const { return poor_x; }
    STRIDEWISE_HOST_DEVICE int PoorY() const { return poor_y; }
  };

  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[3],
                                           Counts* counts) {
    counts->poor_x += IsPoor(x) ? 1 : 0;
    counts->poor_y += IsPoor(y) ? 1 : 0;
    float rest_x = x.value;
    float rest_y = y.value;
#pragma unroll
    for (Two& part : parts) {
      part = RoundToBf16(rest_x, rest_y);
      rest_x -= FirstOf(part);  // Exact.
      rest_y -= SecondOf(part);
    }
  }

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

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_
