#include "common/executor/run/met_branch.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {

MetBranch BranchBefore(const std::vector<std::string>& function,
                       const std::map<std::string, IrBlock>& blocks,
                       const std::vector<std::string>& before) {
  MetBranch result;
  for (const std::string& name : before) {
    const IrBlock& block = blocks.at(name);
    if (block.before.size() != 1) continue;
    const IrBlock& branch = blocks.at(block.before[0]);
    const absl::string_view line = function[branch.last];
    if (!absl::StartsWith(line, "  br i1 ")) continue;
    const std::string then(NameAt(line, line.find("label %") + 6));
    const std::string otherwise(NameAt(line, line.rfind("label %") + 6));
    if (blocks.at(then).first <= branch.first) continue;  // The end of a loop.
    const std::string condition(NameAt(line, 8));
    result.asks_for_equality =
        std::any_of(function.begin(), function.end(), [&](const std::string& other) {
          return Defined(other) == condition && absl::StartsWith(Operation(other), "icmp eq ");
        });
    result.else_is_one_block = otherwise == name || result.asks_for_equality;
    if (result.else_is_one_block) break;
  }
  return result;
}

bool IsZero(absl::string_view value) {
  return value == "0" || value == "0.000000e+00" || value == "null" || value == "false";
}

bool ElseIsZero(const std::vector<IrOperation>& row, size_t j, const std::vector<size_t>& firsts) {
  const auto last = std::max_element(firsts.begin(), firsts.end()) - firsts.begin();
  return IsZero(row[static_cast<size_t>(last)].operands[j].value);
}

}  // namespace stridewise::executor
