// Permutations whose plans tests look at: their addresses are never used.

#ifndef STRIDEWISE_TRANSPOSE_TEST_PERMUTE_PROBLEMS_H_
#define STRIDEWISE_TRANSPOSE_TEST_PERMUTE_PROBLEMS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transpose/permute.h"
#include "transpose/permute_args.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {

inline void* AddressAt(uintptr_t address) { return reinterpret_cast<void*>(address); }

inline PermuteProblem GaplessProblem(const std::vector<int64_t>& extents,
                                     const std::vector<int64_t>& order, int64_t element_bytes = 4) {
  PermuteProblem problem{};
  problem.rank = static_cast<int64_t>(extents.size());
  problem.element_bytes = element_bytes;
  std::copy(extents.begin(), extents.end(), problem.extents.begin());
  std::copy(order.begin(), order.end(), problem.order.begin());
  problem.in = AddressAt(1 << 30);
  problem.out = AddressAt(int64_t{1} << 40);
  SetGaplessStrides(&problem);
  return problem;
}

inline PermuteArgs CanonicalOf(const PermuteProblem& problem) {
  return Canonical(CheckedPermuteArgs(problem).value());
}

// Returns the arguments of a case, with `in` and `out` far from each other.
inline PermuteArgs CanonicalOf(const PermuteCase& c) {
  PermuteProblem problem = GaplessProblem(c.extents, c.order, c.element_bytes);
  problem.out = AddressAt(uintptr_t{1} << 60);
  return CanonicalOf(problem);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_PERMUTE_PROBLEMS_H_
