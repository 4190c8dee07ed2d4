// Parses the command line of all programs, strictly, into Abseil flags. Unlike
// absl::ParseCommandLine() nothing here prints or exits: main decides what follows a wrong flag
// (one line, exit code 2).

#ifndef STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_
#define STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise {

enum class Positional { kRefuse, kReturn };

struct CommandLine {
  bool help = false;                    // --help was given; what follows it was not parsed.
  std::vector<std::string> positional;  // Positional arguments, in order.
};

// Sets the flags that the command line names: --name=value, --name value, and --name and --noname
// for booleans. One dash is as good as two, and -- ends the flags. A separate value may not begin
// with two dashes, so that the next flag is not taken for a forgotten value. argv[0] is ignored.
//
// Returns InvalidArgument, in one line that names the flag, for an unknown flag (with the most
// similar known one, if any), for a value that does not parse, for a missing value, and for
// positional arguments with kRefuse. Flags before the offending one keep their new values. Flags of
// the names `without` are unknown: a program has them from a library and does not use them.
absl::StatusOr<CommandLine> ParseFlags(int argc, const char* const* argv,
                                       Positional positional = Positional::kRefuse,
                                       absl::Span<const std::string> without = {});

// Returns `usage` followed by name, default and help text of each flag that is defined in a file of
// `folder`, sorted by name and wrapped at 100 columns, those of `without` left out. Ends with a
// newline.
std::string HelpText(absl::string_view usage, absl::string_view folder = "benchmarks/",
                     absl::Span<const std::string> without = {});

// Resolves a path of the command line. `bazel run` starts programs in another directory than the
// user's, which it names in BUILD_WORKING_DIRECTORY: relative paths start there. "-" and "" are
// returned as they are.
std::string ResolvePath(absl::string_view path);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_FLAG_PARSING_H_
