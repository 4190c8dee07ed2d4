#include "common/executor/run/volatile_accesses.h"

#include <cstddef>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace stridewise::executor {

// The text form has the call in the line before the access.
std::string MarkVolatile(absl::string_view ir) {
  constexpr absl::string_view kPlain = "@__sanitizer_cov_";
  constexpr absl::string_view kVolatile = "@simt_volatile_";
  std::vector<std::string> lines = absl::StrSplit(ir, '\n');
  std::vector<std::string> declarations;
  const auto rename = [&](absl::string_view line) {
    return absl::StrReplaceAll(line, {{kPlain, kVolatile}});
  };
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool load = absl::StrContains(lines[i], " load volatile ");
    const bool store = absl::StrContains(lines[i], " store volatile ");
    if ((load || store) && i > 0 &&
        absl::StrContains(lines[i - 1],
                          absl::StrCat("call void ", kPlain, load ? "load" : "store"))) {
      lines[i - 1] = rename(lines[i - 1]);
    }
    for (const char* access : {"load", "store"}) {
      if (absl::StartsWith(lines[i], absl::StrCat("declare void ", kPlain, access))) {
        // Without its attributes' number.
        declarations.push_back(rename(lines[i].substr(0, lines[i].find(')') + 1)));
      }
    }
  }
  return absl::StrCat(absl::StrJoin(lines, "\n"), "\n", absl::StrJoin(declarations, "\n"), "\n");
}

}  // namespace stridewise::executor
