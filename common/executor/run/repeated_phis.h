// Computes again what all blocks before one have computed alike.
//
// LLVM's GVN makes a phi of an index that both sides of a branch compute, `phi [ %13, %a ], [ %20,
// %b ]` where both are `or i32 %7, 1`. Then nothing shows any more that it is one behind %7, and
// that the two elements of shared memory are neighbours. nvcc computes it once, before the branch.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_REPEATED_PHIS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_REPEATED_PHIS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module. Changed are phis that GVN has
// named.
std::vector<std::string> WithoutRepeatedPhis(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_REPEATED_PHIS_H_
