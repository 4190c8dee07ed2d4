// Unrolls the loops that ptxas unrolls, as it does.
//
// ptxas unrolls innermost loops by 4 that LLVM has left as one block, also bodies that LLVM has
// unrolled itself. What is left over it takes by 2, then by 1. Threads of a warp of which some have
// two iterations left and others one go separate ways: three requests, where a loop has two.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_UNROLLED_LOOPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_UNROLLED_LOOPS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module that is optimized for a GPU. Changed
// are loops of one block in functions of device code, with a counter that a constant is added to, a
// bound that stays, and below 50 PTX instructions, whose loads and stores may change their order:
// only loads, only stores, or stores to shared memory of what is loaded from global memory.
std::vector<std::string> WithUnrolledLoops(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_UNROLLED_LOOPS_H_
