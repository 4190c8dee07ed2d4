// Where the headers and the library are that programs are compiled with.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_SIMT_HOME_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_SIMT_HOME_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise::executor {

// The folder of the executor below FindSimtHome().
inline constexpr absl::string_view kExecutorFolder = "/common/executor/";

// Returns the folder that the headers and the runtime library are under: that of
// STRIDEWISE_SIMT_HOME, of an installed tree, or of Bazel's runfiles. NotFound names them.
absl::StatusOr<std::string> FindSimtHome();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_SIMT_HOME_H_
