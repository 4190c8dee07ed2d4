// cuTENSOR as an implementation of permutations.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_PERMUTATION_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_PERMUTATION_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"
#include "transpose/permute.h"

namespace stridewise {

// Returns OK where cuTENSOR permutes elements of this size: 2, 4, 8 or 16 bytes, as numbers of
// floating point. InvalidArgument for others; Unavailable, in one line, where there is no cuTENSOR.
absl::Status CheckCutensor(int64_t element_bytes);

// Returns a function that permutes as the problem says, but for its pointers, which are those of
// the function's argument and multiples of 128 bytes. The first call plans, which all later ones
// share: their host time is that of cutensorPermute(). The elements are multiplied by one, so that
// bits of NaNs may change.
std::function<absl::Status(const PermuteProblem& problem, cudaStream_t stream)> PlanCutensor(
    const PermuteProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_PERMUTATION_H_
