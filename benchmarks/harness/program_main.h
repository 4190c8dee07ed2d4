// The main() of every program: flags, --help, one line for what went wrong, exit codes.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PROGRAM_MAIN_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PROGRAM_MAIN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// Exit codes of all programs.
inline constexpr int kExitOk = 0;
inline constexpr int kExitWrongResult = 1;  // Some row is a mismatch or an error.
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitInterrupted = 130;  // As the shell has it: 128 + SIGINT.

// Parses the flags, answers --help with `usage`, and runs. A status, of the flags or of `run`, is
// one line on standard error and kExitBadInput; otherwise `run` says how to exit. `without` names
// flags of the libraries that the program does not use: they are unknown to it, rather than passed
// over without a word.
int ProgramMain(int argc, char** argv, absl::string_view usage,
                const std::function<absl::StatusOr<int>()>& run,
                const std::vector<std::string>& without = {});

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PROGRAM_MAIN_H_
