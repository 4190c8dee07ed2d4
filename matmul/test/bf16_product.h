// Products of BF16 for tests of plans.

#ifndef STRIDEWISE_MATMUL_TEST_BF16_PRODUCT_H_
#define STRIDEWISE_MATMUL_TEST_BF16_PRODUCT_H_

#include <cstdint>

#include "common/base/element_type.h"
#include "matmul/args.h"

namespace stridewise {

// Returns C = A * B or A * B^T with tight leading dimensions.
inline MatMulArgs Bf16Product(int64_t m, int64_t n, int64_t k, bool transpose_b) {
  MatMulArgs args;
  args.m = m;
  args.n = n;
  args.k = k;
  args.a.type = args.b.type = args.c.type = ElementType::kBf16;
  args.a.ld = k;
  args.b.ld = transpose_b ? k : n;
  args.b.transposed = transpose_b;
  args.c.ld = n;
  return args;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_BF16_PRODUCT_H_
