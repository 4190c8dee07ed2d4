// Functions that a GPU has as plain arithmetic.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_NAMES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_NAMES_H_

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Returns whether a declaration or a call, a line of LLVM's text form, is that of a function of
// <math.h> without side effects.
bool NamesMath(absl::string_view line);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_MATH_NAMES_H_
