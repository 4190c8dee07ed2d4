#include "common/executor/run/joined_scalars.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

constexpr uint64_t kWidest = 16;  // Bytes of an access.

struct Layout {
  uint64_t bytes = 0;  // 0 where it is not known.
  uint64_t alignment = 1;
};

// Of "float" and of "[4 x [3 x i32]]".
Layout LayoutOf(absl::string_view type) {
  constexpr std::pair<absl::string_view, uint64_t> kScalars[] = {
      {"i8", 1}, {"i16", 2}, {"half", 2}, {"i32", 4}, {"float", 4}, {"i64", 8}, {"double", 8}};
  for (const auto& scalar : kScalars) {
    if (type == scalar.first) return {scalar.second, scalar.second};
  }
  uint64_t count = 0;
  const size_t by = type.find(" x ");
  if (!absl::StartsWith(type, "[") || by == absl::string_view::npos ||
      !absl::SimpleAtoi(type.substr(1, by - 1), &count)) {
    return {};
  }
  const Layout element = LayoutOf(type.substr(by + 3, type.size() - by - 4));
  return {count * element.bytes, element.alignment};
}

struct Variable {
  size_t line = 0;
  std::string name, function, type;
};

// The variable that a line defines in the shared memory of one function, "_ZZ3sumPfE4mean".
bool FindVariable(absl::string_view text, Variable* variable) {
  constexpr absl::string_view kGlobal = " global ";
  const size_t global = text.find(kGlobal);
  if (!absl::StartsWith(text, "@_ZZ") || global == absl::string_view::npos ||
      !absl::StrContains(text.substr(0, global), " internal thread_local")) {
    return false;
  }
  variable->name = std::string(NameAt(text, 0));
  // Behind the last E that a number follows is the variable's own name.
  size_t end = variable->name.size();
  while (end > 0 && !(variable->name[end - 1] == 'E' && end < variable->name.size() &&
                      variable->name[end] >= '1' && variable->name[end] <= '9')) {
    --end;
  }
  if (end == 0) return false;
  variable->function = variable->name.substr(0, end);
  variable->type = TypeOf(text.substr(global + kGlobal.size()));
  return true;
}

class Joiner {
 public:
  explicit Joiner(std::vector<std::string>* lines) : lines_(*lines) {
    for (size_t i = 0; i < lines_.size(); ++i) {
      Variable variable;
      if (!FindVariable(lines_[i], &variable)) continue;
      variable.line = i;
      Place(variable);
    }
    for (const auto& run : open_) Join(run.second);
  }

  std::vector<std::string> Joined() {
    if (elements_.empty()) return std::move(lines_);
    std::vector<std::string> result;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto array = arrays_.find(i);
      if (array != arrays_.end()) result.push_back(array->second);
      if (gone_.count(i) == 0) result.push_back(Replaced(lines_[i]));
    }
    return result;
  }

 private:
  struct Element {
    std::string address;
    uint64_t alignment;
  };
  struct Run {
    std::vector<Variable> variables;
    uint64_t first = 0;  // Its offset.
  };

  void Place(const Variable& variable) {
    const Layout layout = LayoutOf(variable.type);
    uint64_t& end = ends_[variable.function];
    Run& run = open_[variable.function];
    if (layout.bytes == 0 || end == kUnknown) {
      end = kUnknown;
      return;
    }
    const uint64_t at = (end + layout.alignment - 1) / layout.alignment * layout.alignment;
    const bool scalar = layout.bytes == layout.alignment && layout.bytes >= 4;
    if (!scalar || run.variables.empty() || run.variables.back().type != variable.type ||
        at != end) {
      Join(run);
      run = {{}, at};
    }
    if (scalar) run.variables.push_back(variable);
    end = at + layout.bytes;
  }

  // Makes an array of them, with what precedes the first one within 16 bytes.
  void Join(const Run& run) {
    if (run.variables.size() < 2) return;
    const Variable& first = run.variables[0];
    const uint64_t bytes = LayoutOf(first.type).bytes;
    const uint64_t before = run.first % kWidest / bytes;
    const uint64_t count = before + run.variables.size();
    const std::string array = absl::StrCat(first.name, ".joined");
    const std::string type = absl::StrCat("[", count, " x ", first.type, "]");
    arrays_[first.line] =
        absl::StrCat(array, " = internal thread_local global ", type, " zeroinitializer, align 16");
    for (size_t i = 0; i < run.variables.size(); ++i) {
      gone_.insert(run.variables[i].line);
      const uint64_t at = (before + i) * bytes;
      elements_[run.variables[i].name] = {
          absl::StrCat("getelementptr inbounds (", type, ", ", type, "* ", array, ", i64 0, i64 ",
                       before + i, ")"),
          at % kWidest == 0 ? kWidest : at % kWidest & (~at + 1)};
    }
  }

  std::string Replaced(const std::string& line) const {
    std::string result;
    size_t done = 0;
    for (size_t at = line.find('@'); at != std::string::npos; at = line.find('@', at + 1)) {
      const absl::string_view name = NameAt(line, at);
      const auto element = elements_.find(std::string(name));
      if (element == elements_.end()) continue;
      absl::StrAppend(&result, line.substr(done, at - done), element->second.address);
      done = at + name.size();
      // An access has the alignment of the element, and no more.
      constexpr absl::string_view kAlign = ", align ";
      if (line.compare(done, kAlign.size(), kAlign.data()) != 0) continue;
      absl::StrAppend(&result, kAlign, element->second.alignment);
      done = line.find_first_not_of("0123456789", done + kAlign.size());
      if (done == std::string::npos) return result;
    }
    return result + line.substr(done);
  }

  static constexpr uint64_t kUnknown = ~uint64_t{0};

  std::vector<std::string>& lines_;
  std::map<std::string, uint64_t> ends_;  // Of the functions' variables so far.
  std::map<std::string, Run> open_;
  std::map<size_t, std::string> arrays_;  // By the line of the first variable.
  std::set<size_t> gone_;
  std::map<std::string, Element> elements_;
};

}  // namespace

std::vector<std::string> WithScalarsJoined(std::vector<std::string> lines) {
  return Joiner(&lines).Joined();
}

}  // namespace stridewise::executor
