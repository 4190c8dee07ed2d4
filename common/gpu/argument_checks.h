// The checks that the registries of all exercises make before they run an implementation.

#ifndef STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_
#define STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/gpu/implementation.h"

namespace stridewise {

// InvalidArgument, naming the argument, its value and what is allowed, unless value >= lowest.
absl::Status CheckAtLeast(absl::string_view argument, int64_t value, int64_t lowest);

// The same unless value <= highest.
absl::Status CheckAtMost(absl::string_view argument, int64_t value, int64_t highest);

// InvalidArgument if an implementation whose block is fixed is asked for another than its own.
absl::Status CheckBlock(Blocks blocks, const Block& own, const Block& asked);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_ARGUMENT_CHECKS_H_
