// What clang's messages say of things that the host executor does not have.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_MESSAGES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_MESSAGES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Returns a line "file:line: name" for each name that is not declared and each header that is not
// there, once.
std::vector<std::string> UnknownNames(absl::string_view messages);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COMPILER_MESSAGES_H_
