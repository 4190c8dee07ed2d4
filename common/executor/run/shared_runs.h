// Keeps accesses to shared memory apart that nvcc does not merge.
//
// LLVM's vectorizer merges neighbours where nothing that is between may be the same memory, and
// knows that two shared variables, and two elements of one, are not. nvcc 13.0, NVVM as well as
// ptxas, merges across accesses to global memory, but two loads only where no store to shared
// memory is between, of whatever variable, and two stores only where no load from shared memory
// and no store to another variable is: kernels of a few lines and their machine code for sm_90
// show it, and Rodinia's lud_perimeter. So the accesses of a block are runs, and merged within
// one.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_RUNS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_RUNS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module, for the vectorizer: between two
// runs stand stores that may be to any element of the shared variables.
std::vector<std::string> WithRunsApart(std::vector<std::string> lines);

// Returns the lines without these stores.
std::vector<std::string> WithoutMarksOfRuns(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_SHARED_RUNS_H_
