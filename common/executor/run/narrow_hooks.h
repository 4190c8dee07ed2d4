// Accesses of instrumented code that are wider than they are aligned.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_NARROW_HOOKS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_NARROW_HOOKS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Takes and returns LLVM's text form of a module with calls of SanitizerCoverage. The copy of a
// structure of three floats, which is aligned to 4 bytes, is an access of 8 bytes and one of 4 on
// the host, and three of 4 on a GPU. Makes of the call before such an access one for each aligned
// piece.
std::string WithNarrowHooks(absl::string_view ir);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_NARROW_HOOKS_H_
