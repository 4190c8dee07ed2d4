// What the sweep of permutations measures: Permute(), the kernels that it chooses among, and the
// driver's copy of the same bytes.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/gpu/implementation.h"
#include "transpose/permute.h"

namespace stridewise {

struct PermuteImplementation : Implementation {
  bool copies = false;  // Keeps the order of the elements.
  absl::Status (*run)(const PermuteProblem& problem, cudaStream_t stream) = nullptr;

  // Returns whether it takes a canonical permutation; null for all.
  bool (*takes)(const PermuteArgs& canonical) = nullptr;
  const char* takes_not = "";  // Why it does not take others.
};

absl::Span<const PermuteImplementation> PermuteImplementations();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_IMPLEMENTATIONS_H_
