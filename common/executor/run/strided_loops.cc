#include "common/executor/run/strided_loops.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

// The metadata that promises an end.
constexpr absl::string_view kEnds = "!910000000";

// Whether `next` is a counter that grows by something that is no constant and does not wrap:
// "add nsw i32 %i, %stride" of a phi that takes it.
bool IsStrided(const std::map<std::string, absl::string_view>& operations,
               const std::string& next) {
  const auto sum = operations.find(next);
  if (sum == operations.end() || !absl::StartsWith(sum->second, "add ") ||
      !absl::StrContains(sum->second, " nsw ")) {
    return false;
  }
  const size_t first = sum->second.find('%'), second = sum->second.rfind('%');
  if (first == second) return false;
  for (const size_t at : {first, second}) {
    const auto phi = operations.find(std::string(NameAt(sum->second, at)));
    if (phi != operations.end() && absl::StartsWith(phi->second, "phi ") &&
        Uses(phi->second, next)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> WithStridedLoopsEnding(std::vector<std::string> lines) {
  std::set<std::string> loops;  // Their metadata.
  lines = WithDeviceFunctions(std::move(lines), [&loops](std::vector<std::string> function) {
    std::map<std::string, absl::string_view> operations;
    for (const std::string& line : function) {
      const std::string name = Defined(line);
      if (!name.empty()) operations[name] = Operation(line);
    }
    for (const std::string& line : function) {
      const size_t metadata = line.find("!llvm.loop !");
      if (!absl::StartsWith(line, "  br i1 %") || metadata == std::string::npos) continue;
      const auto condition = operations.find(std::string(NameAt(line, 8)));
      if (condition == operations.end() || !absl::StartsWith(condition->second, "icmp s")) continue;
      for (size_t at = condition->second.find('%'); at != absl::string_view::npos;
           at = condition->second.find('%', at + 1)) {
        if (!IsStrided(operations, std::string(NameAt(condition->second, at)))) continue;
        const size_t number = metadata + 11;
        loops.insert(
            line.substr(number, line.find_first_not_of("0123456789", number + 1) - number));
      }
    }
    return function;
  });
  if (loops.empty()) return lines;
  for (std::string& line : lines) {
    const size_t is = line.find(" = distinct !{");
    if (is == std::string::npos || loops.count(line.substr(0, is)) == 0) continue;
    line.insert(line.rfind('}'), absl::StrCat(", ", kEnds));
  }
  lines.push_back(absl::StrCat(kEnds, " = !{!\"llvm.loop.mustprogress\"}"));
  return lines;
}

}  // namespace stridewise::executor
