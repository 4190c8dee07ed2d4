#include "common/executor/run/compiler_messages.h"

#include <cstddef>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace stridewise::executor {

// They stand after "use of undeclared identifier" and its kin.
std::vector<std::string> UnknownNames(absl::string_view messages) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const absl::string_view line : absl::StrSplit(messages, '\n')) {
    const size_t error = line.find(": error: ");
    const size_t fatal = line.find(": fatal error: ");
    const size_t found = error != absl::string_view::npos ? error : fatal;
    if (found == absl::string_view::npos) continue;
    const absl::string_view text = line.substr(line.find("error: ", found) + 7);
    const bool unknown = absl::StrContains(text, "undeclared identifier") ||
                         absl::StrContains(text, "unknown type name") ||
                         absl::StrContains(text, "no member named") ||
                         absl::StrContains(text, "no template named") ||
                         absl::StrContains(text, "unavailable") ||
                         absl::StrContains(text, "file not found");
    const size_t open = text.find('\'');
    const size_t close = text.find('\'', open + 1);
    if (!unknown || open == absl::string_view::npos || close == absl::string_view::npos) continue;
    const std::string name(text.substr(open + 1, close - open - 1));
    if (!seen.insert(name).second) continue;
    // "file:line:column"
    const absl::string_view place = line.substr(0, found);
    lines.push_back(absl::StrCat(place.substr(0, place.rfind(':')), ": ", name));
  }
  return lines;
}

}  // namespace stridewise::executor
