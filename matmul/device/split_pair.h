// The pair of FP16 numbers that a float becomes, and for which sums of products pairs are good
// enough.
//
// A scaled element x becomes hi + lo, hi the nearest FP16 number and lo the one nearest to the
// rest. Then |x - hi - lo| is at most 2^-23 |x|, but not less than 2^-25 where FP16 runs out of
// exponents: at 2^-16 of the largest element and below. docs/fp32_split.md has the bound of the
// products, and why the counts suffice.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_

#include <cmath>

#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"

namespace stridewise {

struct Fp16Pair {
  using Element = SplitFp16;
  using Two = TwoFp16;
  using Sum = float;
  static constexpr SplitForm kForm = kFp16PairForm;
  static constexpr int kMostOrder = 1;
  static constexpr uint32_t kExponentSlack = 0;

  // Elements from here on, as scaled, count as large.
  static constexpr float kLargeElement = 16;
  // Below this, as scaled, lo may lack the bits for a relative error of 2^-22.
  static constexpr float kSmallElement = 0.125F;

  // A pair is poor if it is off by more than 2^-22 of its element.
  using Counts = Fp16Counts;

  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[2],
                                           Counts* counts) {
    const Two high = RoundToFp16(x.value, y.value);
    const float rest_x = x.value - FirstOf(high);  // Exact.
    const float rest_y = y.value - SecondOf(high);
    const Two low = RoundToFp16(rest_x, rest_y);
    CountFrom(kLargeElement, high, &counts->large);
    if (!AreFrom(kSmallElement, high)) {
      counts->poor_x += IsPoor(x, rest_x - FirstOf(low)) ? 1 : 0;
      counts->poor_y += IsPoor(y, rest_y - SecondOf(low)) ? 1 : 0;
    }
    parts[0] = high;
    parts[1] = low;
  }

  STRIDEWISE_HOST_DEVICE static int Range(int large, int poor, int k) {
    const int balance = 2 * large - 16 * poor - k;
    return 2 * (balance > kNoSplit / 2 ? balance : kNoSplit / 2) + (poor > 0 ? 1 : 0);
  }

 private:
  STRIDEWISE_HOST_DEVICE static bool IsPoor(ScaledElement x, float error) {
    return std::abs(error) > 0x1p-22F * std::abs(x.value) || x.IsLost();
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_PAIR_H_
