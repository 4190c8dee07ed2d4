// Runs another program and returns what it printed.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_SUBPROCESS_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_SUBPROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace stridewise {

struct ProcessResult {
  int exit_code = 0;   // 128 + the signal's number, as the shell has it, when a signal ended it.
  std::string output;  // Standard output and standard error, as they came.
};

// Runs the program at the path argv[0] with these arguments (argv[0] among them) and waits for it;
// its standard input is empty. Internal, with the system's reason, when it cannot be started.
// REQUIRES: argv is not empty.
absl::StatusOr<ProcessResult> RunProcess(const std::vector<std::string>& argv);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_SUBPROCESS_H_
