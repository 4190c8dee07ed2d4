// Permutes the dimensions of tensors in host memory, as permute.h does in device memory: the same
// problem, the same checks, no GPU.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_ON_HOST_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_ON_HOST_H_

#include "absl/status/status.h"
#include "transpose/permute.h"

namespace stridewise {

// Writes the elements of `in` to `out` on all cores (OMP_NUM_THREADS says on how many), and returns
// when it is done. Returns InvalidArgument for what Permute() refuses.
absl::Status PermuteOnHost(const PermuteProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_ON_HOST_H_
