// Permutations of the dimensions of tensors in host memory, on several threads.

#ifndef STRIDEWISE_TRANSPOSE_CPU_PERMUTE_H_
#define STRIDEWISE_TRANSPOSE_CPU_PERMUTE_H_

#include "transpose/permute_args.h"

namespace stridewise {

// Moves the elements on at most `threads` threads of OpenMP; limits and stream are not looked at.
// `in` and `out` do not overlap.
void PermuteOnThreads(const PermuteArgs& args, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_PERMUTE_H_
