#include "common/executor/run/ir_blocks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

}  // namespace

std::vector<std::string> WithNames(std::vector<std::string> function) {
  int arguments = 0;
  for (std::string& old : function) {
    const bool begins = absl::StartsWith(old, "define ");
    std::string line;
    for (size_t i = 0; i < old.size();) {
      const absl::string_view name = old[i] == '%' ? NameAt(old, i) : absl::string_view();
      if (!IsNumber(name.substr(name.empty() ? 0 : 1))) {
        line += old[i++];
        continue;
      }
      int number = 0;
      if (begins && absl::SimpleAtoi(name.substr(1), &number)) {
        arguments = std::max(arguments, number + 1);
      }
      absl::StrAppend(&line, "%v", name.substr(1));
      i += name.size();
    }
    const std::string label = LabelOf(line);
    if (!label.empty() && IsNumber(absl::string_view(label).substr(1))) line.insert(0, "v");
    old.swap(line);
  }
  if (LabelOf(function[1]).empty()) {
    function.insert(function.begin() + 1, absl::StrCat("v", arguments, ":"));
  }
  return function;
}

std::map<std::string, IrBlock> BlocksOf(const std::vector<std::string>& function) {
  std::map<std::string, IrBlock> blocks;
  std::string label;
  for (size_t i = 1; i < function.size(); ++i) {
    if (!LabelOf(function[i]).empty()) {
      label = LabelOf(function[i]);
      blocks[label].first = i + 1;
    }
    if (!label.empty() && !absl::StrContains(function[i], '=') && !function[i].empty() &&
        function[i] != "}") {
      blocks[label].last = i;  // Its last line that is no value: the branch.
    }
  }
  for (auto& block : blocks) {
    // A switch has lines of its own, in brackets.
    for (size_t i = block.second.first; i < function.size(); ++i) {
      const absl::string_view line = function[i];
      if (!LabelOf(line).empty() || line == "}") break;
      for (size_t at = line.find("label %"); at != absl::string_view::npos;
           at = line.find("label %", at + 1)) {
        IrBlock& next = blocks[std::string(NameAt(line, at + 6))];
        next.before.push_back(block.first);
        next.always = next.always && absl::StartsWith(line, "  br label %");
      }
    }
  }
  return blocks;
}

}  // namespace stridewise::executor
