// Volatile loads and stores of instrumented code.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_VOLATILE_ACCESSES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_VOLATILE_ACCESSES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Takes and returns LLVM's text form of a module with calls of SanitizerCoverage. Names other calls
// before volatile loads and stores, which the instrumentation does not tell from others.
std::string MarkVolatile(absl::string_view ir);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_VOLATILE_ACCESSES_H_
