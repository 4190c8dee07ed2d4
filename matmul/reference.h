// The FP64 products that results are judged by.

#ifndef STRIDEWISE_MATMUL_REFERENCE_H_
#define STRIDEWISE_MATMUL_REFERENCE_H_

#include "absl/status/status.h"
#include "common/matrix.h"
#include "matmul/registry.h"

namespace stridewise {

// Sets r = A * B and s = |A| * |B|, computed in FP64. `args` holds host pointers to A and B; its C
// is not used. `r` and `s` are m x n host matrices without gaps between the rows (ld == cols).
//
// With args.cublas the device does it (cuBLAS DGEMM; needs 8 bytes an element of A, B and C there,
// ResourceExhausted where that is too much), else Eigen on all cores: 4 m n k operations.
absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_REFERENCE_H_
