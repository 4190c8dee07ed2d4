// Matrix multiplication in host memory, as matmul.h does it in device memory: the same problem, the
// same checks, no GPU. docs/cpu.md compares it with Eigen, OpenBLAS and oneDNN.

#ifndef STRIDEWISE_MATMUL_ON_HOST_H_
#define STRIDEWISE_MATMUL_ON_HOST_H_

#include "absl/status/status.h"
#include "matmul/matmul.h"

namespace stridewise {

// Computes C = alpha * op(A) * op(B) + beta * C on all cores (OMP_NUM_THREADS says on how many),
// and returns when it is done. All three matrices are float, or all three double, or A and B
// bfloat16 and C float or bfloat16: sums are then float, and where the processor has AVX-512's
// VDPBF16PS numbers below 2^-126 count as zeros. The problem's device and workspace are not looked
// at. The order of a sum depends on the shape, the processor and the number of threads. May be
// called from any thread; each keeps the memory that it packed operands in, a few MB, for its next
// product.
//
// Returns InvalidArgument, naming the argument, for what MatMul() refuses, but takes k of any size.
absl::Status MatMulOnHost(const MatMulProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ON_HOST_H_
