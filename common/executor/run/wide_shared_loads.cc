#include "common/executor/run/wide_shared_loads.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/math_names.h"

namespace stridewise::executor {
namespace {

constexpr int kSegment = 4;  // Elements of 4 bytes in 16.

// Steps that a search for a remainder may take.
constexpr int kMaxSteps = 2000;

// "%7 = load <2 x float>, <2 x float>* %5, align 8, !dbg !9", or of a scalar.
struct Load {
  size_t line = 0;
  std::string result, type, element, pointer, behind;
  int count = 1;
  int alignment = 0;
  std::string root;      // What loads at constant distances have in common.
  std::string variable;  // Or pointer that is indexed.
  std::string index;
  int64_t offset = 0;  // In bytes behind the root.
  int first = 0;       // Element of the segment.
};

bool ParseLoad(const std::string& line, Load* load) {
  const absl::string_view operation = Operation(line);
  if (!absl::StartsWith(operation, "load ") || absl::StrContains(operation, " volatile ") ||
      absl::StrContains(operation, " atomic ")) {
    return false;
  }
  load->result = Defined(line);
  load->type = TypeOf(operation.substr(5));
  load->element = load->type;
  if (absl::StartsWith(load->type, "<")) {
    const size_t times = load->type.find(" x ");
    if (!absl::SimpleAtoi(load->type.substr(1, times - 1), &load->count)) return false;
    load->element = load->type.substr(times + 3, load->type.size() - times - 4);
  }
  if ((load->element != "float" && load->element != "i32") || load->count > kSegment) return false;
  const size_t star = line.find("* %"), align = line.find(", align ");
  if (star == std::string::npos || align == std::string::npos || load->result.empty()) return false;
  load->pointer = std::string(NameAt(line, star + 2));
  size_t end = align + 8;
  while (end < line.size() && absl::ascii_isdigit(line[end])) ++end;
  load->behind = line.substr(end);
  return absl::SimpleAtoi(line.substr(align + 8, end - align - 8), &load->alignment);
}

class Function {
 public:
  Function(std::vector<std::string> lines, const std::set<std::string>& shared, int* number)
      : lines_(std::move(lines)), shared_(shared), number_(number) {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string name = Defined(lines_[i]);
      if (!name.empty()) definitions_[name] = i;
    }
  }

  std::vector<std::string> Widened() {
    FindAlignments();
    std::vector<Load> together;
    for (size_t i = 0; i < lines_.size(); ++i) {
      Load load;
      if (ParseLoad(lines_[i], &load)) {
        load.line = i;
        Resolve(&load);
        if (Remainder(load).has_value()) together.push_back(load);
        continue;
      }
      if (!EndsGroup(lines_[i])) continue;
      Merge(together);
      together.clear();
    }
    std::vector<std::string> result;
    for (size_t i = 0; i < lines_.size(); ++i) {
      for (const absl::string_view line : absl::StrSplit(lines_[i], '\n'))
        result.emplace_back(line);
    }
    return result;
  }

 private:
  bool EndsGroup(const std::string& line) const {
    const absl::string_view operation = Operation(line);
    if (!LabelOf(line).empty()) return true;
    if (absl::StartsWith(operation, "store ")) return PointsTo(line, lines_, shared_);
    if (absl::StrContains(operation.substr(0, 12), "call ")) {
      return !absl::StrContains(line, "@llvm.") && !NamesMath(line);
    }
    return line == "}" || absl::StartsWith(operation, "atomicrmw ") ||
           absl::StartsWith(operation, "cmpxchg ") || absl::StartsWith(operation, "fence ") ||
           absl::StartsWith(operation, "invoke ");
  }

  // Where the pointer comes from, but for constant offsets. An index `x | 5` of an `x` that 4
  // divides is one element behind `x | 4`.
  void Resolve(Load* load) {
    load->root = load->pointer;
    load->variable = load->pointer;
    for (;;) {
      const auto found = definitions_.find(load->root);
      if (found == definitions_.end()) return;
      const std::string& line = lines_[found->second];
      const absl::string_view all = Operation(line);
      const absl::string_view operation = all.substr(0, all.find(", !"));
      const size_t star = operation.find("* ");
      if (star == absl::string_view::npos || star + 2 >= operation.size() ||
          (operation[star + 2] != '%' && operation[star + 2] != '@')) {
        return;
      }
      const std::string pointer(NameAt(operation, star + 2));
      if (absl::StartsWith(operation, "getelementptr ")) {
        const std::string type = TypeOf(
            operation.substr(absl::StartsWith(operation, "getelementptr inbounds ") ? 23 : 14));
        const bool of_array = absl::EndsWith(type, " x float]") || absl::EndsWith(type, " x i32]");
        const int bytes = type == "float" || type == "i32" ? 4 : type == "i8" ? 1 : 0;
        const size_t index = operation.rfind(", i64 ");
        int64_t by = 0;
        if (index == absl::string_view::npos) return;
        const absl::string_view number = operation.substr(index + 6);
        if (!absl::SimpleAtoi(number, &by)) {
          if (bytes == 4 || (of_array && absl::StrContains(operation, ", i64 0, i64 "))) {
            SplitIndex(pointer, std::string(number), load);
          }
          return;
        }
        if (bytes == 0) return;
        load->offset += by * bytes;
      } else if (!absl::StartsWith(operation, "bitcast ")) {
        return;
      }
      load->root = pointer;
      load->variable = pointer;
    }
  }

  void SplitIndex(const std::string& pointer, const std::string& index, Load* load) {
    load->variable = pointer;
    std::string extension, value = index;
    for (int depth = 0; depth < 16; ++depth) {
      const auto found = definitions_.find(value);
      if (found == definitions_.end()) break;
      const absl::string_view all = Operation(lines_[found->second]);
      const absl::string_view operation = all.substr(0, all.find(", !"));
      const size_t at = operation.find('%');
      if (at == absl::string_view::npos) break;
      if (absl::StartsWith(operation, "zext ") || absl::StartsWith(operation, "sext ")) {
        extension = std::string(operation.substr(0, 4));
        value = std::string(NameAt(operation, at));
        continue;
      }
      int64_t low = 0;
      if (!absl::SimpleAtoi(operation.substr(operation.rfind(' ') + 1), &low)) break;
      if (absl::StartsWith(operation, "add ")) {
        // What is extended must not have wrapped.
        if ((extension == "zext" && !absl::StrContains(operation, " nuw ")) ||
            (extension == "sext" && !absl::StrContains(operation, " nsw "))) {
          break;
        }
        load->offset += low * 4;
        value = std::string(NameAt(operation, at));
        continue;
      }
      if (!absl::StartsWith(operation, "or ")) break;
      const std::string high(NameAt(operation, at));
      steps_ = 0;
      std::map<std::string, int> assumed;
      if (ValueRemainder(high, &assumed) != std::optional<int>(0)) break;
      load->root = absl::StrCat(pointer, extension, high, "|", low / kSegment);
      load->offset += low % kSegment * 4;
      load->index = high;
      return;
    }
    load->root = absl::StrCat(pointer, extension, value, "|0");
    load->index = value;
  }

  // What loads with an alignment of 16 say of their roots.
  void FindAlignments() {
    for (const std::string& line : lines_) {
      Load load;
      if (!ParseLoad(line, &load) || load.alignment < 16) continue;
      Resolve(&load);
      remainders_[load.root] = static_cast<int>((-load.offset / 4) & (kSegment - 1));
    }
  }

  // The root's element of its segment, where it is known to be in shared memory.
  std::optional<int> Remainder(const Load& load) {
    if (load.offset % 4 != 0) return std::nullopt;
    if (!PointsTo(absl::StrCat("* ", load.variable), lines_, shared_)) return std::nullopt;
    const auto known = remainders_.find(load.root);
    if (known != remainders_.end()) return known->second;
    // An index of a variable, which begins with a segment.
    if (load.variable[0] != '@' || load.index.empty()) return std::nullopt;
    steps_ = 0;
    std::map<std::string, int> assumed;
    const std::optional<int> result = ValueRemainder(load.index, &assumed);
    if (result.has_value()) remainders_[load.root] = *result;
    return result;
  }

  // The two lowest bits of a value; `assumed` has those of phis that are being looked at.
  std::optional<int> ValueRemainder(absl::string_view value, std::map<std::string, int>* assumed) {
    int64_t number = 0;
    if (absl::SimpleAtoi(value, &number)) return static_cast<int>(number & (kSegment - 1));
    if (++steps_ > kMaxSteps) return std::nullopt;
    const auto assumption = assumed->find(std::string(value));
    if (assumption != assumed->end()) return assumption->second;
    const auto found = definitions_.find(std::string(value));
    if (found == definitions_.end()) return std::nullopt;
    const absl::string_view all = Operation(lines_[found->second]);
    const absl::string_view operation = all.substr(0, all.find(", !"));
    const absl::string_view opcode = operation.substr(0, operation.find(' '));
    if (opcode == "phi") return PhiRemainder(value, operation, assumed);
    if (opcode == "zext" || opcode == "sext") {
      const size_t at = operation.find('%');
      if (at == absl::string_view::npos) return std::nullopt;
      return ValueRemainder(NameAt(operation, at), assumed);
    }
    const std::vector<std::string> words = absl::StrSplit(BehindFlags(operation), ' ');
    if (words.size() != 3) return std::nullopt;
    const std::string left = words[1].substr(0, words[1].size() - 1);
    int64_t by = 0;
    const bool constant = absl::SimpleAtoi(words[2], &by);
    if (constant && ((opcode == "shl" && by >= 2) ||
                     ((opcode == "mul" || opcode == "and") && by % kSegment == 0))) {
      return 0;
    }
    const std::optional<int> a = ValueRemainder(left, assumed);
    const std::optional<int> b = a.has_value() ? ValueRemainder(words[2], assumed) : std::nullopt;
    if (!b.has_value()) return std::nullopt;
    if (opcode == "add") return (*a + *b) & (kSegment - 1);
    if (opcode == "sub") return (*a - *b) & (kSegment - 1);
    if (opcode == "mul") return (*a * *b) & (kSegment - 1);
    if (opcode == "or") return *a | *b;
    if (opcode == "and") return *a & *b;
    return std::nullopt;
  }

  // What is assumed of the phi must follow for all values that come in; a constant among them
  // leaves one assumption.
  std::optional<int> PhiRemainder(absl::string_view name, absl::string_view operation,
                                  std::map<std::string, int>* assumed) {
    std::vector<std::string> values;
    for (size_t at = operation.find("[ "); at != absl::string_view::npos;
         at = operation.find("[ ", at + 1)) {
      values.emplace_back(operation.substr(at + 2, operation.find(',', at) - at - 2));
    }
    std::optional<int> first;
    for (const std::string& value : values) {
      int64_t number = 0;
      if (absl::SimpleAtoi(value, &number)) first = static_cast<int>(number & (kSegment - 1));
    }
    for (int guess = 0; guess < kSegment; ++guess) {
      if (first.has_value() && *first != guess) continue;
      std::map<std::string, int> with = *assumed;
      with[std::string(name)] = guess;
      bool all = true;
      for (size_t i = 0; i < values.size() && all; ++i) {
        const std::optional<int> r = ValueRemainder(values[i], &with);
        all = r.has_value() && *r == guess;
      }
      if (all) return guess;
    }
    return std::nullopt;
  }

  void Merge(const std::vector<Load>& loads) {
    std::map<std::pair<std::string, int64_t>, std::vector<Load>> segments;
    for (Load load : loads) {
      const int64_t element = load.offset / 4 + *Remainder(load);
      const int64_t segment = element >= 0 ? element / kSegment : -((3 - element) / kSegment);
      load.first = static_cast<int>(element - segment * kSegment);
      if (load.first + load.count > kSegment) continue;
      segments[{load.root + load.element, segment}].push_back(load);
    }
    for (const auto& segment : segments) {
      int mask = 0;
      for (const Load& load : segment.second) mask |= ((1 << load.count) - 1) << load.first;
      const bool single = segment.second.size() == 1;
      if (__builtin_popcount(mask) >= 3) {
        if (!single || segment.second[0].count == 3) Replace(segment.second, 0, kSegment);
      } else if (!single && (mask == 0b0011 || mask == 0b1100)) {
        Replace(segment.second, mask == 0b0011 ? 0 : 2, 2);
      }
    }
  }

  // By one load of `count` elements from element `begin` of the segment, where the first one was.
  void Replace(const std::vector<Load>& loads, int begin, int count) {
    const std::string p = absl::StrCat("%simt.wide", (*number_)++, ".");
    const Load& first = loads[0];
    const std::string type = absl::StrCat("<", count, " x ", first.element, ">");
    std::string text =
        absl::StrCat("  ", p, "b = bitcast ", first.type, "* ", first.pointer, " to i8*\n  ", p,
                     "p = getelementptr i8, i8* ", p, "b, i64 ", (begin - first.first) * 4, "\n  ",
                     p, "q = bitcast i8* ", p, "p to ", type, "*\n  ", p, "v = load ", type, ", ",
                     type, "* ", p, "q, align ", count * 4, first.behind, "\n");
    for (const Load& load : loads) {
      const int at = load.first - begin;
      std::string line;
      if (load.count == 1) {
        line = absl::StrCat("  ", load.result, " = extractelement ", type, " ", p, "v, i32 ", at);
      } else {
        std::vector<std::string> indices;
        for (int i = 0; i < load.count; ++i) indices.push_back(absl::StrCat("i32 ", at + i));
        line =
            absl::StrCat("  ", load.result, " = shufflevector ", type, " ", p, "v, ", type,
                         " undef, <", load.count, " x i32> <", absl::StrJoin(indices, ", "), ">");
      }
      lines_[load.line] = &load == &first ? absl::StrCat(text, line) : line;
    }
  }

  std::vector<std::string> lines_;
  const std::set<std::string>& shared_;
  int* number_;
  int steps_ = 0;
  std::map<std::string, size_t> definitions_;
  std::map<std::string, int> remainders_;  // Of roots, in elements.
};

}  // namespace

std::vector<std::string> WithWideSharedLoads(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Function(std::move(function), shared, &number).Widened();
  });
}

}  // namespace stridewise::executor
