// Makes one store of two to shared memory, of which a branch may do the second, as ptxas does.
//
// `s[t] = a[i]; if (j < n) s[t] += a[j];` is two stores in nvcc's PTX. ptxas predicates the branch
// and then stores once, behind it, what predicates have chosen. SASS of CUDA 13.0 for some 60
// kernels shows when:
// - both store to the same address of shared memory, and no store, call or access to shared memory
//   is between but stores to global memory in the branch;
// - the branch, which may have branches of its own, is short, without loops, barriers and
//   divisions;
// - neither is such a store of two: of three in a row the first two are merged;
// - where the sides meet another condition follows: in a kernel that is straight from there on,
//   predicates are found too late, unless the first store is of zero.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_OVERWRITTEN_STORES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_OVERWRITTEN_STORES_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module. Changed are functions of device
// code.
std::vector<std::string> WithOverwrittenStoresMerged(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_OVERWRITTEN_STORES_H_
