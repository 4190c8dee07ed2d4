// What the sweep of permutations measures: Permute(), the kernels that it chooses among, cuTENSOR
// and the driver's copy of the same bytes.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/gpu/implementation.h"
#include "transpose/permute.h"

namespace stridewise {

using RunPermutation = std::function<absl::Status(const PermuteProblem& problem, cudaStream_t)>;

struct PermuteImplementation : Implementation {
  bool copies = false;  // Keeps the order of the elements.

  // Either runs a problem, or plans it: the function that `plan` returns runs problems that differ
  // in their pointers alone.
  absl::Status (*run)(const PermuteProblem& problem, cudaStream_t stream) = nullptr;
  RunPermutation (*plan)(const PermuteProblem& problem) = nullptr;

  // Returns why it takes no elements of that size, or cannot be run at all; null for one that can.
  absl::Status (*check)(int64_t element_bytes) = nullptr;

  // Returns whether it takes a canonical permutation; null for all.
  bool (*takes)(const PermuteArgs& canonical) = nullptr;
  const char* takes_not = "";  // Why it does not take others.
};

absl::Span<const PermuteImplementation> PermuteImplementations();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_
