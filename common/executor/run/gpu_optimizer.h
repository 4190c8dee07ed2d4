// Lets LLVM's optimizer make of a program's loads and stores what a GPU's compiler makes of them.
//
// The host executor counts the accesses that the source has. nvcc loads neighbouring elements by
// one instruction of 8 or 16 bytes where it knows that they are aligned, and does not load again
// what is still in a register. LLVM has the same transformations for NVPTX (its load-store
// vectorizer, NVPTX's unrolling and inlining, GVN), and `opt` applies them to the code of any
// target: gpu_passes.h has the commands. These functions edit the text of its intermediate
// representation before and after, so that the optimizer knows what CUDA promises: what is in
// shared memory is not in global memory, shared variables are aligned to 16 bytes, indices have
// ranges, functions of <math.h> have no side effects.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_OPTIMIZER_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_OPTIMIZER_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Returns IR as `clang -S -emit-llvm -Xclang -disable-llvm-passes` prints it, with these promises.
// Two `extern __shared__` arrays of a kernel count as different memory from here on.
std::string WithPromises(absl::string_view ir);

// Returns what the commands have made of WithPromises(before), to be compiled for the host: with
// the target of `before`, and with dynamic shared memory that is defined elsewhere.
std::string WithoutPromises(absl::string_view optimized, absl::string_view before);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_GPU_OPTIMIZER_H_
