// Leaves wide loads where they are whose values meet in a phi.
//
// Where two blocks end with loads of which the next block needs the one or the other, LLVM's
// InstCombine and nvcc's load once in that block, from the address that the phi chooses. Of a
// float4, nvcc's phis are of its four members, which do not make one load: it stays in both blocks.
// So a loop that loads for its next iteration does so also in the last one.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_PHIS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_PHIS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module behind InstCombine. Changed are loads
// of vectors in device code from a phi that InstCombine has made for them, whose name ends in
// ".in".
std::vector<std::string> WithLoadsBeforePhis(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_PHIS_H_
