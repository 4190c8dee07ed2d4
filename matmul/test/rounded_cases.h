// Products whose operands are rounded to 16 bits: cases, and what rounding has to make of a float.

#ifndef STRIDEWISE_MATMUL_TEST_ROUNDED_CASES_H_
#define STRIDEWISE_MATMUL_TEST_ROUNDED_CASES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/half_types.h"
#include "matmul/operands.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {

inline constexpr MatMulPrecision kRoundedTo[] = {MatMulPrecision::kBf16, MatMulPrecision::kFp16};

// Returns the number of 16 bits that is nearest to the value.
inline float Rounded(MatMulPrecision precision, float value) {
  return precision == MatMulPrecision::kBf16 ? static_cast<float>(Bf16(value))
                                             : static_cast<float>(Fp16(value));
}

// Ties to either side, numbers beside them, subnormal ones, the largest of FP16 and what rounds to
// it or beyond, and infinity; of both signs.
inline std::vector<float> NumbersToRound() {
  constexpr uint32_t kMantissas[] = {0,      0xfff,  0x1000,  0x1001,   0x3000,  0x7fff,
                                     0x8000, 0x8001, 0x18000, 0x7ff000, 0x7fffff};
  constexpr uint32_t kExponents[] = {0, 1, 63, 101, 102, 103, 112, 113, 127, 141, 142, 143, 254};
  std::vector<float> values;
  for (const float sign : {1.0f, -1.0f}) {
    values.push_back(sign * std::numeric_limits<float>::infinity());
    values.push_back(sign * 65519.0f);
    values.push_back(sign * 65520.0f);
    for (const uint32_t exponent : kExponents) {
      for (const uint32_t mantissa : kMantissas) {
        values.push_back(sign * FloatOfBits(exponent << 23 | mantissa));
      }
    }
  }
  return values;
}

// All layouts, with rows that begin at multiples of 16 bytes and others, leading dimensions of any
// kind, batches with one A or one B, factors, a bias and activations, and extents below a vector.
inline std::vector<MatMulCase> RoundedCases() {
  std::vector<MatMulCase> cases = {{1, 1, 1, 0}, {3, 5, 2, 1}, {40, 1, 33, 0}, {1, 37, 64, 3}};
  for (const int ops : {0, 1, 2, 3}) {
    MatMulCase c = {72, 136, 80, 0};
    c.transpose_a = (ops & 1) != 0;
    c.transpose_b = (ops & 2) != 0;
    cases.push_back(c);
    c.m = 67;
    c.k = 71;
    c.pad = 1;
    c.offset_a = 1;
    c.offset_b = ops;
    c.beta = ops % 2 == 0 ? 0 : 2;
    c.alpha = -0.5;
    c.bias = ops >= 2;
    c.activation = ops == 3 ? Activation::kGelu : Activation::kNone;
    cases.push_back(c);
    c.batch = 3;
    c.gap = ops;
    c.one_a = ops == 1;
    c.one_b = ops == 2;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_ROUNDED_CASES_H_
