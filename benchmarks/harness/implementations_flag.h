// --implementations and its other name, --kernels.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_IMPLEMENTATIONS_FLAG_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_IMPLEMENTATIONS_FLAG_H_

#include <string>

#include "absl/status/statusor.h"

namespace stridewise {

struct ImplementationsFlag {
  const char* name = "--implementations";  // As it was given, for messages.
  std::string text;                        // Names and globs; empty if it was not given.
};

// InvalidArgument if both names are given.
absl::StatusOr<ImplementationsFlag> GetImplementationsFlag();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_IMPLEMENTATIONS_FLAG_H_
