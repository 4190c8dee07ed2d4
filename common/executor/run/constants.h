// Other values for variables of a program, so that one whose sizes are those of a GPU runs to its
// end on a CPU: int B = 8; becomes int B = 2; where the caller asks for B=2.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_CONSTANTS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_CONSTANTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise::executor {

struct Constant {
  std::string name;
  std::string value;  // What stands behind the = instead, without line ends.
};

// Reads "B=2;SIZE={128, 256}". Returns InvalidArgument, naming the part, for one that is not
// NAME=VALUE, or a name that occurs twice.
absl::StatusOr<std::vector<Constant>> ParseConstants(absl::string_view text);

// One variable whose initialiser was replaced.
struct ReplacedInitialiser {
  std::string file;
  int line = 0;
  std::string name, before, after;
};

struct WithConstantsResult {
  std::string text;
  std::vector<ReplacedInitialiser> replaced;
};

// Replaces initialisers of the form `type NAME = ...`, also of arrays, in what `clang -E` printed.
// Only definitions outside of parentheses in the program's own files count; lines stay where they
// are. A type of several words or with template arguments is fine; of `int a = 1, b = 2` only the
// first is found.
WithConstantsResult WithConstants(absl::string_view preprocessed,
                                  const std::vector<Constant>& constants);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_CONSTANTS_H_
