// C = alpha * op(A) * op(B) + beta * C on the host: the packed product on one core or on several.

#ifndef STRIDEWISE_MATMUL_CPU_MULTIPLY_H_
#define STRIDEWISE_MATMUL_CPU_MULTIPLY_H_

#include "matmul/args.h"

namespace stridewise {

// Computes a batch on at most `threads` threads. REQUIRES: all operands float, or all double.
void MultiplyOnHost(const MatMulArgs& args, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_H_
