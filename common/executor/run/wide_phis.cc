#include "common/executor/run/wide_phis.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

// What a phi chooses, and the block that it comes from.
struct Choice {
  std::string value, label;
};

// Of "phi float* [ %a, %x ], [ %b, %y ]".
std::vector<Choice> ChoicesOf(absl::string_view phi) {
  std::vector<Choice> choices;
  for (size_t at = phi.find("[ "); at != absl::string_view::npos; at = phi.find("[ ", at)) {
    const size_t end = phi.find(" ]", at);
    const size_t comma = phi.rfind(", %", end);
    if (end == absl::string_view::npos || comma == absl::string_view::npos || comma < at) return {};
    choices.push_back({std::string(phi.substr(at + 2, comma - at - 2)),
                       std::string(phi.substr(comma + 2, end - comma - 2))});
    at = end;
  }
  return choices;
}

bool EndsBlock(absl::string_view line) {
  const absl::string_view operation = Operation(line);
  for (const char* opcode : {"br ", "switch ", "ret ", "ret", "unreachable", "indirectbr "}) {
    if (absl::StartsWith(operation, opcode)) return true;
  }
  return false;
}

std::vector<std::string> Changed(std::vector<std::string> function, int* number) {
  // Where blocks end. The first one has no label, but a name.
  std::map<std::string, size_t> ends;
  std::map<std::string, size_t> phis, casts;
  std::string label;
  for (size_t i = 0; i < function.size(); ++i) {
    if (!LabelOf(function[i]).empty()) label = LabelOf(function[i]);
    if (EndsBlock(function[i])) ends[label] = i;
    if (absl::StartsWith(Operation(function[i]), "phi ")) phis[Defined(function[i])] = i;
    if (absl::StartsWith(Operation(function[i]), "bitcast ")) casts[Defined(function[i])] = i;
  }
  std::map<size_t, std::vector<std::string>> before;  // What to insert, by line.
  for (std::string& line : function) {
    const absl::string_view operation = Operation(line);
    const size_t star = operation.find("* %");
    if (!absl::StartsWith(operation, "load <") || star == absl::string_view::npos) continue;
    std::string pointer(NameAt(operation, star + 2));
    const auto cast = casts.find(pointer);
    if (cast != casts.end()) {
      const absl::string_view from = function[cast->second];
      pointer = std::string(NameAt(from, from.find("* %") + 2));
    }
    const auto phi = phis.find(pointer);
    if (!absl::EndsWith(pointer, ".in") || phi == phis.end()) continue;
    const std::string of_phi = TypeOf(Operation(function[phi->second]).substr(4));
    const std::vector<Choice> choices = ChoicesOf(function[phi->second]);
    bool known = !choices.empty();
    for (const Choice& choice : choices) {
      known = known && (ends.count(choice.label) > 0 || ends.count("") > 0);
    }
    if (!known) continue;
    const std::string type = TypeOf(operation.substr(5));
    const size_t align = operation.find(", align ");
    const absl::string_view rest = operation.substr(align);
    std::vector<std::string> values;
    for (const Choice& choice : choices) {
      const std::string name = absl::StrCat("%simt.early", (*number)++);
      const auto end = ends.find(choice.label);
      std::vector<std::string>& lines = before[end == ends.end() ? ends[""] : end->second];
      lines.push_back(
          absl::StrCat("  ", name, ".p = bitcast ", of_phi, " ", choice.value, " to ", type, "*"));
      lines.push_back(absl::StrCat("  ", name, " = load ", type, ", ", type, "* ", name, ".p",
                                   rest.substr(0, rest.find(", !"))));
      // Else InstCombine would do it again when the code is compiled for the host.
      lines.push_back(absl::StrCat("  ", name, ".f = freeze ", type, " ", name));
      values.push_back(absl::StrCat("[ ", name, ".f, ", choice.label, " ]"));
    }
    function[phi->second] =
        absl::StrCat("  ", Defined(line), " = phi ", type, " ", absl::StrJoin(values, ", "));
    line.clear();
    if (cast != casts.end()) function[cast->second].clear();
  }
  std::vector<std::string> result;
  for (size_t i = 0; i < function.size(); ++i) {
    for (std::string& line : before[i]) result.push_back(std::move(line));
    result.push_back(std::move(function[i]));
  }
  return result;
}

}  // namespace

std::vector<std::string> WithLoadsBeforePhis(std::vector<std::string> lines) {
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Changed(std::move(function), &number);
  });
}

}  // namespace stridewise::executor
