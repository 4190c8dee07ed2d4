// Loads four members where nvcc does, of which a program asks for fewer.
//
// Where the first of four elements of 1, 2 or 4 bytes is loaded and known to be aligned to all
// four, as the x of a float4, and the third or the fourth one is loaded too, nvcc's optimizer loads
// all four by one instruction: x and w as well as x, y and z. It does not where the first one is
// not loaded, and it does not for stores. LLVM's vectorizer merges four loads that are there, so
// those that lack are put there, and taken away again where it has not used them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_FILLED_GAPS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_FILLED_GAPS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module, before the vectorizer of loads.
std::vector<std::string> WithFilledGaps(std::vector<std::string> lines);

// The same behind it: removes loads that were put there and are still loads of their own.
std::vector<std::string> WithoutUnusedFillers(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_FILLED_GAPS_H_
