// Merges loads of shared memory as ptxas does.
//
// ptxas loads 16 aligned bytes of shared memory by one instruction where three or four of their
// four elements are asked for, and 8 aligned bytes where both are; it knows alignments that LLVM
// does not, such as that of a loop's counter which begins at 1 and grows by 4. So one load may read
// an element that the source does not ask for; of global memory ptxas reads no such.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_SHARED_LOADS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_SHARED_LOADS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module that is optimized for a GPU. Changed
// are loads of elements of 4 bytes within a block of a function of device code.
std::vector<std::string> WithWideSharedLoads(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_WIDE_SHARED_LOADS_H_
