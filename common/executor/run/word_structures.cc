#include "common/executor/run/word_structures.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace stridewise::executor {

int Words(absl::string_view type, const std::map<std::string, WordStructure>& structures) {
  if (type == "float" || type == "i32") return 1;
  const auto structure = structures.find(std::string(type));
  if (structure != structures.end()) return structure->second.size;
  const size_t times = type.find(" x ");
  int count = 0;
  if (!absl::StartsWith(type, "[") || times == absl::string_view::npos ||
      !absl::SimpleAtoi(type.substr(1, times - 1), &count)) {
    return 0;
  }
  return count * Words(type.substr(times + 3, type.size() - times - 4), structures);
}

std::map<std::string, WordStructure> WordStructures(const std::vector<std::string>& lines) {
  constexpr absl::string_view kDefinition = " = type { ";
  std::map<std::string, WordStructure> result;
  for (size_t before = 0, first = 1; first == 1 || result.size() > before; first = 0) {
    before = result.size();
    for (const std::string& line : lines) {
      const size_t at = absl::string_view(line).find(kDefinition);
      if (line.empty() || line[0] != '%' || at == std::string::npos) continue;
      WordStructure structure;
      const size_t begin = at + kDefinition.size(), end = line.rfind(" }");
      for (const absl::string_view type : absl::StrSplit(line.substr(begin, end - begin), ", ")) {
        const int words = Words(type, result);
        if (words == 0) structure.size = -1;
        if (structure.size < 0) break;
        structure.types.emplace_back(type);
        structure.begins.push_back(structure.size);
        structure.size += words;
      }
      if (structure.size > 0) result[line.substr(0, at)] = structure;
    }
  }
  return result;
}

}  // namespace stridewise::executor
