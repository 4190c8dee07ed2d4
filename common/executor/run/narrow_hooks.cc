#include "common/executor/run/narrow_hooks.h"

#include <cstddef>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace stridewise::executor {
namespace {

constexpr absl::string_view kHook = "call void @__sanitizer_cov_";

// A call before an access: "load" or "store", its bytes, its argument, and what is behind it.
struct Hook {
  absl::string_view operation, type, address, rest;
  int bytes = 0;
};

int NumberAt(absl::string_view text) {
  int number = 0;
  return absl::SimpleAtoi(text.substr(0, text.find_first_not_of("0123456789")), &number) ? number
                                                                                         : 0;
}

bool FindHook(absl::string_view line, Hook* hook) {
  const size_t at = line.find(kHook), open = line.find('(', at), end = line.rfind(')');
  if (at == absl::string_view::npos || open == absl::string_view::npos || end < open) return false;
  const absl::string_view name = line.substr(at + kHook.size(), open - at - kHook.size());
  const size_t digits = name.find_first_of("0123456789");
  if (digits == absl::string_view::npos) return false;
  hook->operation = name.substr(0, digits);
  hook->bytes = NumberAt(name.substr(digits));
  const absl::string_view argument = line.substr(open + 1, end - open - 1);
  const size_t blank = argument.find(' ');
  if (blank == absl::string_view::npos) return false;
  hook->type = argument.substr(0, blank);
  hook->address = argument.substr(argument.find_first_of("%@", blank));
  hook->rest = line.substr(end);
  // Addresses that are expressions are those of variables, which are aligned.
  return hook->bytes > 1 && absl::StrContains(argument, " %");
}

// The bytes of the pieces of an access, 0 where it is one.
int PieceOf(const Hook& hook, absl::string_view access) {
  constexpr absl::string_view kAlign = ", align ";
  const size_t align = access.find(kAlign);
  if (!absl::StrContains(access, absl::StrCat(hook.operation, " ")) ||
      align == absl::string_view::npos) {
    return 0;
  }
  const int bytes = NumberAt(access.substr(align + kAlign.size()));
  return bytes < hook.bytes ? bytes : 0;
}

}  // namespace

// The text form has the call in the line before the access.
std::string WithNarrowHooks(absl::string_view ir) {
  const std::vector<absl::string_view> lines = absl::StrSplit(ir, '\n');
  std::vector<std::string> result;
  std::set<std::string> used, declared;
  int number = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    Hook hook;
    const int piece =
        i + 1 < lines.size() && FindHook(lines[i], &hook) ? PieceOf(hook, lines[i + 1]) : 0;
    if (absl::StartsWith(lines[i], "declare void @__sanitizer_cov_")) {
      declared.emplace(lines[i].substr(0, lines[i].find(')') + 1));
    }
    if (piece == 0) {
      result.emplace_back(lines[i]);
      continue;
    }
    const std::string type = absl::StrCat("i", 8 * piece), name = absl::StrCat("%simt.", number++);
    result.push_back(
        absl::StrCat("  ", name, " = bitcast ", hook.type, " ", hook.address, " to ", type, "*"));
    used.insert(
        absl::StrCat("declare void @__sanitizer_cov_", hook.operation, piece, "(", type, "*)"));
    for (int k = 0; k < hook.bytes / piece; ++k) {
      const std::string part = absl::StrCat(name, ".", k);
      result.push_back(
          absl::StrCat("  ", part, " = getelementptr ", type, ", ", type, "* ", name, ", i64 ", k));
      result.push_back(
          absl::StrCat("  ", kHook, hook.operation, piece, "(", type, "* ", part, hook.rest));
    }
  }
  for (const std::string& declaration : used) {
    if (declared.count(declaration) == 0) result.push_back(declaration);
  }
  return absl::StrJoin(result, "\n") + "\n";
}

}  // namespace stridewise::executor
