// The FP64 products that results are judged by.

#ifndef STRIDEWISE_MATMUL_REFERENCE_H_
#define STRIDEWISE_MATMUL_REFERENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "matmul/registry.h"

namespace stridewise {

// Sets r = alpha * op(A) * op(B) + beta * C and s = |alpha| * |op(A)| * |op(B)| + |beta| * |C|,
// computed in FP64 from alpha and beta rounded to the element type. `args` holds host pointers; its
// C is what C held before the multiplication, and is not written. Of a batch it is the first;
// OneOfBatch() of batch.h makes it another. A and B are not read where alpha is 0, nor C where beta
// is. `r` and `s` are m x n host matrices without gaps between the rows (ld == cols).
//
// With args.cublas the device does it (cuBLAS DGEMM; needs 8 bytes an element of A, B and C there,
// ResourceExhausted where that is too much), else Eigen on all cores: 4 m n k operations.
absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s);

// The terms of each of these sums, for CompareProduct() and CheckProduct() of validation.h: k, and
// where alpha or beta do anything two more, for the roundings of their products and their sum.
int64_t ReferenceTerms(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_REFERENCE_H_
