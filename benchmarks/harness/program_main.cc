#include "benchmarks/harness/program_main.h"

#include <iostream>

#include "common/base/flag_parsing.h"

namespace stridewise {

int ProgramMain(int argc, char** argv, absl::string_view usage,
                const std::function<absl::StatusOr<int>()>& run,
                const std::vector<std::string>& without) {
  const absl::StatusOr<CommandLine> command_line =
      ParseFlags(argc, argv, Positional::kRefuse, without);
  if (command_line.ok() && command_line->help) {
    std::cout << HelpText(usage, "benchmarks/", without);
    return kExitOk;
  }
  const absl::StatusOr<int> exit_code = command_line.ok() ? run() : command_line.status();
  if (exit_code.ok()) return *exit_code;
  std::cerr << exit_code.status().message() << std::endl;
  return kExitBadInput;
}

}  // namespace stridewise
