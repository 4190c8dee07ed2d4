// The FP64 products that results are compared with.

#ifndef STRIDEWISE_MATMUL_REFERENCE_H_
#define STRIDEWISE_MATMUL_REFERENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/verify/validation.h"
#include "matmul/registry.h"

namespace stridewise {

// Sets r = alpha * op(A) * op(B) + beta * C and s = |alpha| * |op(A)| * |op(B)| + |beta| * |C|,
// computed in FP64 from A, B and C in their own types and from alpha and beta rounded to
// ScaleType(). With an epilogue r is the activation of r + bias, and s has |bias| added and, where
// the activation is a GELU, whose slope is below 1.13, is 1.13 as large. `args` holds host
// pointers, that of the bias too; its C is what C held before the multiplication, and is not
// written. Of a batch the first multiplication is computed; OneOfBatch() of batch.h selects
// another. A and B are not read where alpha is 0, nor C where beta is. `r` and `s` are m x n host
// matrices without gaps between the rows (ld == cols). REQUIRES: A, B and C have
// the types of an entry of the registry, and there are no scales.
//
// With args.cublas the device computes it (cuBLAS DGEMM, which needs 8 bytes an element of A, B and
// C there; ResourceExhausted where that is too much), else Eigen on all cores: 4 m n k operations.
absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s);

// Returns how exactly products of these types are computed in this precision.
ProductAccuracy AccuracyOf(const MatMulTypes& types, MatMulPrecision precision);

// Returns how exactly the implementation computes this product. Sums of FP8 products that are not
// left to tensor cores are promoted to FP32 every 128 of k: (|A||B|)_ij is that of 128 for each
// such sum, so that the bound of 13 bits counts 128 of k. The epilogue of an FP8 product may be a
// pass of its own, before which the sum was rounded to C's type: that error is relative to the sum,
// which bias and activation can make much smaller.
ProductAccuracy AccuracyOf(const MatMulImplementation& implementation, const MatMulArgs& args);

// Returns the number of roundings in each of these sums, for CompareProduct() and CheckProduct() of
// validation.h: k, and where alpha or beta do anything two more, for their products and their sum,
// and one for a bias.
int64_t ReferenceTerms(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_REFERENCE_H_
