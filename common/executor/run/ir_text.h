// Reading and changing lines of LLVM's text form.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_IR_TEXT_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_IR_TEXT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Other names for names, both with "%".
using Names = std::map<std::string, std::string>;

// Returns the name that begins at `at`, with its "%" or "@".
absl::string_view NameAt(absl::string_view line, size_t at);

// Returns the line with other names for those of `names`.
std::string Renamed(absl::string_view line, const Names& names);

// Returns whether the line has this name, whole.
bool Uses(absl::string_view line, absl::string_view name);

// Returns what stands behind "%x = ", or the whole instruction, without spaces at its beginning.
absl::string_view Operation(absl::string_view line);

// Returns the name that the line defines, or "".
std::string Defined(absl::string_view line);

// Returns the type at the beginning of the text.
std::string TypeOf(absl::string_view text);

// Returns what stands behind an operation's opcode and flags.
absl::string_view BehindFlags(absl::string_view operation);

// Returns the label that the line is, with "%", or "".
std::string LabelOf(absl::string_view line);

// Returns the lines of a module in which `change` has changed each function of device code, which
// is one that asks for its thread's index. `change` takes and returns the lines of one function.
std::vector<std::string> WithDeviceFunctions(
    std::vector<std::string> lines,
    const std::function<std::vector<std::string>(std::vector<std::string> function)>& change);

// Returns the names of variables in shared memory, and of a host thread's own.
std::set<std::string> SharedVariables(const std::vector<std::string>& lines);

// Returns whether the pointer of a line, behind "* ", points into one of `variables`, by way of
// addresses that the lines of the same function compute from it.
bool PointsTo(absl::string_view line, const std::vector<std::string>& function,
              const std::set<std::string>& variables);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_IR_TEXT_H_
