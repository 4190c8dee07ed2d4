// The three BF16 numbers that a float becomes. BF16 has FP32's exponents, and three times its 8
// bits are FP32's 24: the triple is the float.
//
// A scaled element x becomes hi + mid + lo, each the BF16 number nearest to what is left; nothing
// is left of elements from kLeastElement on. docs/fp32_split.md has the bound of the products.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_

#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_wide.h"

namespace stridewise {

// kProducts: 9, or 6 without mid * lo, lo * mid and lo * lo.
template <int kProducts>
struct Bf16Triple : WideParts {
  static_assert(kProducts == 6 || kProducts == 9, "products of three parts");
  using Element = SplitBf16;
  using Two = TwoBf16;
  using Sum = float;
  static constexpr SplitForm kForm = kProducts == 6 ? kBf16SixForm : kBf16NineForm;
  static constexpr int kMostOrder = kProducts == 6 ? 2 : 4;
  static constexpr uint32_t kExponentSlack = 0;

  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[3],
                                           Counts* counts) {
    counts->Add(x, y);
    float rest_x = x.value;
    float rest_y = y.value;
#pragma unroll
    for (Two& part : parts) {
      part = RoundToBf16(rest_x, rest_y);
      rest_x -= FirstOf(part);  // Exact.
      rest_y -= SecondOf(part);
    }
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TRIPLE_H_
