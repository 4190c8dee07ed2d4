// Shared variables of a kernel that lie side by side, as one array.
//
// `__shared__ float mean, scale;` are two variables to LLVM, anywhere in memory. ptxas lays a
// kernel's variables out one after the other, in their order, and then stores and loads both at
// once: 8 or 16 bytes, where these are aligned. SASS of CUDA 13.0 for 16 kernels shows it for two
// to four scalars of 4 bytes and for doubles, also behind arrays, and neither with an array between
// nor across what is aligned to 8 bytes. As elements of an array, LLVM's vectorizer does the same.
// That is so of what is left of a kernel's variables: an array of which one element is used is a
// scalar. Left out are scalars of different
// types, of which ptxas makes one access too, and loads of three, which it makes one of 16 bytes.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_JOINED_SCALARS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_JOINED_SCALARS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module.
std::vector<std::string> WithScalarsJoined(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_JOINED_SCALARS_H_
