// Splits loads and stores of 3 and of other numbers of elements that are no power of two, in LLVM's
// text form. The load-store vectorizer makes such vectors, a GPU has none, and the instrumentation
// passes over them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_ODD_VECTORS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_ODD_VECTORS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Returns the line, or, where it is such an access, lines with accesses of 4, 2 and 1 elements, the
// widest first that their place and alignment allow, as PTX would have them. `number` counts these,
// for the names of their values.
std::string SplitOddVector(absl::string_view line, int* number);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_ODD_VECTORS_H_
