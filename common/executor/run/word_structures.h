// Structures of nothing but members of 4 bytes, in LLVM's text form.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_WORD_STRUCTURES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_WORD_STRUCTURES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

// A structure of nothing but members of 4 bytes, nested ones and arrays among them: where each
// begins, and the whole, in elements.
struct WordStructure {
  std::vector<std::string> types;
  std::vector<int> begins;
  int size = 0;
};

// Returns such structures of a module, by their names with "%".
std::map<std::string, WordStructure> WordStructures(const std::vector<std::string>& lines);

// Returns the elements of 4 bytes of "float", "[4 x i32]", "%struct.a" and so on; 0 of others.
int Words(absl::string_view type, const std::map<std::string, WordStructure>& structures);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_WORD_STRUCTURES_H_
