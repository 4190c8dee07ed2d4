// The local permutation of tests, on the host.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_PERMUTE_ELEMENTS_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_PERMUTE_ELEMENTS_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_handles.h"
#include "transpose/permute.h"
#include "transpose/permute_args.h"

namespace stridewise {

// Permute() of elements on the host.
inline absl::Status PermuteElements(const PermuteProblem& problem, cudaStream_t) {
  RETURN_IF_ERROR(CheckedPermuteArgs(problem).status());
  std::array<int64_t, kMaxPermuteRank> out_stride{};  // By the dimensions of `in`.
  int64_t elements = 1;
  for (int64_t i = 0; i < problem.rank; ++i) {
    out_stride[problem.order[i]] = problem.strides_out[i];
    elements *= problem.extents[i];
  }
  for (int64_t number = 0; number < elements; ++number) {
    int64_t left = number, from = 0, to = 0;
    for (int64_t i = problem.rank - 1; i >= 0; --i) {
      from += left % problem.extents[i] * problem.strides_in[i];
      to += left % problem.extents[i] * out_stride[i];
      left /= problem.extents[i];
    }
    std::memcpy(static_cast<char*>(problem.out) + to * problem.element_bytes,
                static_cast<const char*>(problem.in) + from * problem.element_bytes,
                problem.element_bytes);
  }
  return absl::OkStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_PERMUTE_ELEMENTS_H_
