// What checks of a product C = A * B read it with: sums that are wider than its types, and operands
// that may be stored transposed.

#ifndef STRIDEWISE_COMMON_VERIFY_CHECKED_PRODUCTS_H_
#define STRIDEWISE_COMMON_VERIFY_CHECKED_PRODUCTS_H_

#include <cstdint>
#include <type_traits>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/base/matrix.h"

// The types of A and B, and of C, of products that are checked: `run` is a macro of the two.
#define STRIDEWISE_CHECKED_PRODUCTS(run)                                                        \
  run(float, float) run(double, double) run(Bf16, Bf16) run(Bf16, float) run(Fp16, Fp16)        \
      run(Fp16, float) run(int8_t, int32_t) run(int8_t, float) run(E4m3, float) run(E4m3, Bf16) \
          run(E4m3, Fp16) run(E5m2, float) run(E5m2, Bf16) run(E5m2, Fp16)

namespace stridewise {

// A type in which sums of T round so little that only T's own rounding matters.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

// Returns the sum of value(j) for j < n, in four chains: a single one would wait 4 cycles for each
// addition.
template <typename W, typename Value>
W SumOfValues(int64_t n, Value value) {
  W s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    s0 += value(j);
    s1 += value(j + 1);
    s2 += value(j + 2);
    s3 += value(j + 3);
  }
  for (; j < n; ++j) s0 += value(j);
  return (s0 + s1) + (s2 + s3);
}

// A matrix of the product, as it is stored or its transpose.
template <typename T>
struct CheckedOperand {
  ConstMatrix<T> stored;
  bool transposed = false;

  int64_t rows() const { return transposed ? stored.cols : stored.rows; }
  int64_t cols() const { return transposed ? stored.rows : stored.cols; }
  T operator()(int64_t i, int64_t j) const { return transposed ? stored(j, i) : stored(i, j); }
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_CHECKED_PRODUCTS_H_
