// The pair of TF32 numbers that a float becomes. TF32 has FP32's exponents and 11 significant bits.
//
// A scaled element x becomes hi + lo, hi the nearest TF32 number and lo the one nearest to the
// rest. Then |x - hi - lo| is at most 2^-23 |x| for elements from kLeastElement on.
// docs/fp32_split.md has the bound of the products.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_TF32_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_TF32_H_

#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_wide.h"

namespace stridewise {

struct Tf32Pair : WideParts {
  using Element = float;
  using Two = TwoTf32;
  using Sum = float;
  static constexpr SplitForm kForm = kTf32PairForm;
  static constexpr int kMostOrder = 1;
  static constexpr uint32_t kExponentSlack = 0;

  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[2],
                                           Counts* counts) {
    counts->Add(x, y);
    parts[0] = RoundToTf32(x.value, y.value);
    parts[1] = RoundToTf32(x.value - parts[0].x, y.value - parts[0].y);  // Of exact rests.
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_TF32_H_
