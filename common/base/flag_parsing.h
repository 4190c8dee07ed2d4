// The command line of all programs: Abseil flags, parsed strictly. Unlike absl::ParseCommandLine()
// nothing here prints or exits, so that main decides what a wrong flag costs (one line, exit code
// 2).

#ifndef STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_
#define STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise {

enum class Positional { kRefuse, kReturn };

struct CommandLine {
  bool help = false;                    // --help was given; what follows it was not looked at.
  std::vector<std::string> positional;  // In order.
};

// Sets the flags that the command line names: --name=value, --name value, --name and --noname for
// booleans; one dash does as well as two, -- ends the flags. A separate value may not begin with
// two dashes, so that a forgotten value does not swallow the next flag. argv[0] is passed over.
//
// InvalidArgument, in one line that names the flag, for an unknown one (with the nearest known, if
// one is near), a value that does not parse, a missing value, and for positional arguments unless
// they are asked for. Flags before the offending one keep what they were set to.
absl::StatusOr<CommandLine> ParseFlags(int argc, const char* const* argv,
                                       Positional positional = Positional::kRefuse);

// `usage`, then name, default and help text of each flag that is defined in a file of `folder`, by
// name, wrapped at 100 columns. Ends with a newline.
std::string HelpText(absl::string_view usage, absl::string_view folder = "benchmarks/");

// Where a path on the command line points to: a relative one starts where the user called `bazel
// run`, which starts programs somewhere else and says so in BUILD_WORKING_DIRECTORY. "-" and ""
// stay.
std::string ResolvePath(absl::string_view path);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_
