// Makes one load of the same in both sides of a branch, as ptxas does.
//
// `if (p) v = a[i] + b[j]; else v = a[i] * 2;` has a load of a[i] in each side in nvcc's PTX, as
// the sides do not begin alike. ptxas predicates both sides and then has two loads of one address
// under a predicate and under its opposite, which it makes one. SASS of CUDA 13.0 for some 50
// kernels shows when:
// - each side is one block, and both meet behind it;
// - no side is longer than 20 instructions, without addresses and multiplications that an addition
//   takes in, or has calls and divisions;
// - the load is not of shared memory and no store comes before it; one side may store behind it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_PREDICATED_LOADS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_PREDICATED_LOADS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module. Changed are functions of device
// code.
std::vector<std::string> WithPredicatedLoadsMerged(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_PREDICATED_LOADS_H_
