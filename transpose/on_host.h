// Transposes matrices in host memory, as transpose.h does in device memory: the same views, the
// same checks, no GPU.

#ifndef STRIDEWISE_TRANSPOSE_ON_HOST_H_
#define STRIDEWISE_TRANSPOSE_ON_HOST_H_

#include "absl/status/status.h"
#include "transpose/transpose.h"

namespace stridewise {

// Transposes `in` into `out` on all cores (OMP_NUM_THREADS says on how many), and returns when it
// is done. If out.data == in.data it works in place: matrices must then be square.
//
// Returns InvalidArgument for what Transpose() refuses, and in place for matrices that are not
// square.
absl::Status TransposeOnHost(const MatrixView& in, const MutableMatrixView& out);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_ON_HOST_H_
