// Takes accesses apart that are wider than they are aligned, as nvcc does.
//
// A structure of two floats is aligned to 4 bytes. LLVM's InstCombine makes one access of 8 bytes
// of its copy, and nvcc's code generator two of 4: a GPU's accesses are aligned to their size. The
// same for copies of larger structures, which LLVM leaves as calls of memcpy.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_ALIGNED_PIECES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_ALIGNED_PIECES_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module. Changed are loads, stores and copies
// of a known size in device code.
std::vector<std::string> WithAlignedPieces(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_ALIGNED_PIECES_H_
