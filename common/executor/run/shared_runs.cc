#include "common/executor/run/shared_runs.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

constexpr absl::string_view kMark = "%simt.run";

// Operations from a pointer to the variable that it points into.
constexpr int kMaxSteps = 20;

class Function {
 public:
  Function(const Lines& lines, const std::map<std::string, std::string>& shared)
      : lines_(lines), shared_(shared) {
    for (const std::string& line : lines) {
      const std::string name = Defined(line);
      if (!name.empty()) definitions_[name] = Operation(line);
    }
  }

  Lines Marked(int* number) const {
    const std::set<std::string> used = UsedVariables();
    if (used.empty()) return lines_;
    Lines result;
    std::string run;  // What the accesses of the run are; "" before the first one.
    for (const std::string& line : lines_) {
      if (!LabelOf(line).empty()) run.clear();
      const std::string next = RunOf(line);
      if (!next.empty()) {
        if (!run.empty() && run != next) AddMarks(used, number, &result);
        run = next;
      }
      result.push_back(line);
    }
    return result;
  }

 private:
  // "load", "store @variable", or "" of what is no access to shared memory.
  std::string RunOf(const std::string& line) const {
    const absl::string_view operation = Operation(line);
    const bool load = absl::StartsWith(operation, "load ");
    if (!load && !absl::StartsWith(operation, "store ")) return "";
    const std::string variable = VariableOf(operation);
    return variable.empty() ? "" : load ? "load" : absl::StrCat("store ", variable);
  }

  // The shared variable that the last pointer of an operation points into, or "".
  std::string VariableOf(absl::string_view operation) const {
    for (int step = 0; step < kMaxSteps; ++step) {
      operation = operation.substr(0, operation.find(", !"));
      for (size_t at = operation.find('@'); at != absl::string_view::npos;
           at = operation.find('@', at + 1)) {
        const auto found = shared_.find(std::string(NameAt(operation, at)));
        if (found != shared_.end()) return found->first;
      }
      const bool store = absl::StartsWith(operation, "store ");
      size_t star = store ? operation.rfind("* %") : operation.find("* %");
      if (star != absl::string_view::npos) {
        star += 2;
      } else if (absl::StartsWith(operation, "phi ") && absl::StrContains(operation, "* [ %")) {
        star = operation.find("[ %") + 2;
      } else {
        return "";
      }
      const auto definition = definitions_.find(std::string(NameAt(operation, star)));
      if (definition == definitions_.end()) return "";
      operation = definition->second;
      if (!absl::StartsWith(operation, "getelementptr ") &&
          !absl::StartsWith(operation, "bitcast ") && !absl::StartsWith(operation, "phi ")) {
        return "";
      }
    }
    return "";
  }

  std::set<std::string> UsedVariables() const {
    std::set<std::string> used;
    for (const std::string& line : lines_) {
      for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
        const std::string name(NameAt(line, at));
        if (shared_.count(name) > 0) used.insert(name);
      }
    }
    return used;
  }

  void AddMarks(const std::set<std::string>& used, int* number, Lines* lines) const {
    for (const std::string& variable : used) {
      const std::string& type = shared_.at(variable);
      const std::string mark = absl::StrCat(kMark, (*number)++);
      lines->push_back(absl::StrCat("  ", mark, "b = bitcast ", type, "* ", variable, " to i8*"));
      lines->push_back(absl::StrCat("  ", mark, " = getelementptr i8, i8* ", mark, "b, i64 undef"));
      lines->push_back(absl::StrCat("  store i8 0, i8* ", mark, ", align 1"));
    }
  }

  const Lines& lines_;
  const std::map<std::string, std::string>& shared_;  // Types.
  std::map<std::string, absl::string_view> definitions_;
};

}  // namespace

Lines WithRunsApart(Lines lines) {
  std::map<std::string, std::string> shared;
  for (const std::string& variable : SharedVariables(lines)) shared[variable];
  for (const std::string& line : lines) {
    const auto found =
        absl::StartsWith(line, "@") ? shared.find(std::string(NameAt(line, 0))) : shared.end();
    const size_t type = line.find(" global ");
    if (found != shared.end() && type != std::string::npos) {
      found->second = TypeOf(absl::string_view(line).substr(type + 8));
    }
  }
  for (auto variable = shared.begin(); variable != shared.end();) {
    variable = variable->second.empty() ? shared.erase(variable) : std::next(variable);
  }
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](Lines function) {
    // Numbered values keep their order: marks have names.
    return Function(function, shared).Marked(&number);
  });
}

Lines WithoutMarksOfRuns(Lines lines) {
  lines.erase(
      std::remove_if(lines.begin(), lines.end(),
                     [](const std::string& line) { return absl::StrContains(line, kMark); }),
      lines.end());
  return lines;
}

}  // namespace stridewise::executor
