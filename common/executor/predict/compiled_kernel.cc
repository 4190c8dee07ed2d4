#include "common/executor/predict/compiled_kernel.h"

#include <cstddef>

#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace stridewise::executor {

std::string KernelKey(absl::string_view demangled) {
  const std::string name = absl::StrReplaceAll(
      demangled, {{"(anonymous namespace)::", ""}, {"stridewise::", ""}, {"executor::", ""}});
  // The arguments begin at the first bracket that is not within template arguments.
  int depth = 0;
  size_t end = 0;
  for (; end < name.size() && !(name[end] == '(' && depth == 0); ++end) {
    if (name[end] == '<' || name[end] == '(') ++depth;
    if (name[end] == '>' || name[end] == ')') --depth;
  }
  absl::string_view key = absl::string_view(name).substr(0, end);
  absl::ConsumePrefix(&key, "void ");
  return absl::StrReplaceAll(key, {{" ", ""}});
}

}  // namespace stridewise::executor
