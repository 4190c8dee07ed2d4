// Leaves loops around other loops alone.
//
// LLVM unrolls a loop of few iterations around one of an unknown length before that one. nvcc
// unrolls the inner loop first, by 4, and the outer one only where all of that is still small.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_OUTER_LOOPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_OUTER_LOOPS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module whose loops are simplified and not
// yet unrolled. Loops in functions of device code that have a loop of an unknown length in them,
// that nvcc does not unroll, and for which the source says nothing of unrolling, get the metadata
// "llvm.loop.unroll.disable".
std::vector<std::string> WithOuterLoopsLeftAlone(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_OUTER_LOOPS_H_
