// Runs another program and waits for it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_RUN_PROGRAM_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stridewise::executor {

// Runs `command`, found on the PATH, with standard output and errors in these files where they are
// named. Returns its exit code, or 128 and the signal that ended it, as a shell does; NotFound
// where it does not start.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& command,
                               const std::string& output = "", const std::string& errors = "");

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_RUN_PROGRAM_H_
