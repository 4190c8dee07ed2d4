// Promises that loops with a stride that is no constant have an end, as nvcc takes it.
//
// nvcc counts the iterations of `for (int i = t; i < n; i += stride)`, for which the stride must
// not be zero, and unrolls it. It does not conclude that an unsigned counter does not wrap: `for
// (unsigned i = t; i < n; i += 32)` stays as it is for ptxas. A newer LLVM concludes both from
// C++'s promise that loops end, or neither without it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_STRIDED_LOOPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_STRIDED_LOOPS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module that has no such promises, with
// rotated loops.
std::vector<std::string> WithStridedLoopsEnding(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_STRIDED_LOOPS_H_
