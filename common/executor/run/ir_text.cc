#include "common/executor/run/ir_text.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace stridewise::executor {
namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '$' || c == '-';
}

}  // namespace

absl::string_view NameAt(absl::string_view line, size_t at) {
  size_t end = at + 1;
  while (end < line.size() && IsNameCharacter(line[end])) ++end;
  return line.substr(at, end - at);
}

std::string Renamed(absl::string_view line, const Names& names) {
  std::string result;
  for (size_t i = 0; i < line.size();) {
    if (line[i] != '%') {
      result += line[i++];
      continue;
    }
    const absl::string_view name = NameAt(line, i);
    const auto found = names.find(std::string(name));
    absl::StrAppend(&result, found == names.end() ? name : found->second);
    i += name.size();
  }
  return result;
}

bool Uses(absl::string_view line, absl::string_view name) {
  for (size_t i = line.find(name); i != absl::string_view::npos; i = line.find(name, i + 1)) {
    if (NameAt(line, i) == name) return true;
  }
  return false;
}

absl::string_view Operation(absl::string_view line) {
  const size_t equal = line.find(" = ");
  return absl::StripLeadingAsciiWhitespace(
      equal == absl::string_view::npos ? line : line.substr(equal + 3));
}

std::string Defined(absl::string_view line) {
  if (!absl::StartsWith(line, "  %") || !absl::StrContains(line, " = ")) return "";
  return std::string(NameAt(line, 2));
}

std::string TypeOf(absl::string_view text) {
  int open = 0;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '{' || text[i] == '[') ++open;
    if (text[i] == '>' || text[i] == '}' || text[i] == ']') --open;
    if (open == 0 && (text[i] == ' ' || text[i] == ',')) break;
  }
  return std::string(text.substr(0, i));
}

absl::string_view BehindFlags(absl::string_view operation) {
  static const std::set<std::string>* const flags =
      new std::set<std::string>{"nuw",  "nsw",      "exact", "fast", "nnan", "ninf",    "nsz",
                                "arcp", "contract", "afn",   "tail", "call", "noundef", "reassoc"};
  absl::string_view rest = operation.substr(operation.find(' ') + 1);
  while (flags->count(TypeOf(rest)) > 0) rest = rest.substr(rest.find(' ') + 1);
  return rest;
}

std::string LabelOf(absl::string_view line) {
  if (line.empty() || !IsNameCharacter(line[0])) return "";
  const std::string name(NameAt(absl::StrCat("%", line), 0));
  return name.size() <= line.size() && line[name.size() - 1] == ':' ? name : "";
}

std::vector<std::string> WithDeviceFunctions(
    std::vector<std::string> lines,
    const std::function<std::vector<std::string>(std::vector<std::string> function)>& change) {
  std::vector<std::string> result;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!absl::StartsWith(lines[i], "define ")) {
      result.push_back(std::move(lines[i]));
      continue;
    }
    std::vector<std::string> function;
    bool of_device = false;
    for (; i < lines.size(); ++i) {
      of_device = of_device || absl::StrContains(lines[i], "@simt_thread_idx_");
      function.push_back(std::move(lines[i]));
      if (function.back() == "}") break;
    }
    if (of_device) function = change(std::move(function));
    for (std::string& line : function) result.push_back(std::move(line));
  }
  return result;
}

std::set<std::string> SharedVariables(const std::vector<std::string>& lines) {
  std::set<std::string> shared;
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, "@") && absl::StrContains(line, " thread_local ")) {
      shared.insert(std::string(NameAt(line, 0)));
    }
  }
  return shared;
}

bool PointsTo(absl::string_view line, const std::vector<std::string>& function,
              const std::set<std::string>& variables) {
  for (int depth = 0; depth < 20; ++depth) {
    for (size_t at = line.find('@'); at != absl::string_view::npos; at = line.find('@', at + 1)) {
      if (variables.count(std::string(NameAt(line, at))) > 0) return true;
    }
    const size_t star = line.find("* %");
    if (star == absl::string_view::npos) return false;
    const std::string define = absl::StrCat("  ", NameAt(line, star + 2), " = ");
    bool found = false;
    for (const std::string& other : function) {
      if (!absl::StartsWith(other, define)) continue;
      const absl::string_view operation = Operation(other);
      if (!absl::StartsWith(operation, "getelementptr") &&
          !absl::StartsWith(operation, "bitcast")) {
        return false;
      }
      line = operation;
      found = true;
      break;
    }
    if (!found) return false;
  }
  return false;
}

}  // namespace stridewise::executor
