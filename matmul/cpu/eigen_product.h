// The entry points of eigen_product.cc, one for each instruction set that it is compiled for.

#ifndef STRIDEWISE_MATMUL_CPU_EIGEN_PRODUCT_H_
#define STRIDEWISE_MATMUL_CPU_EIGEN_PRODUCT_H_

#include "matmul/args.h"

namespace stridewise {

// C = alpha * op(A) * op(B) + beta * C, of a batch, with `threads` threads; 0 is all cores.
void EigenProductBaseline(const MatMulArgs& args, int threads);
void EigenProductAvx2(const MatMulArgs& args, int threads);
void EigenProductAvx512(const MatMulArgs& args, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_EIGEN_PRODUCT_H_
