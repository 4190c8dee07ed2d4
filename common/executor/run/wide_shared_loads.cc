#include "common/executor/run/wide_shared_loads.h"

#include <cstddef>
#include <cstdint>
#include <map>
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
#include "common/executor/run/shared_addresses.h"

namespace stridewise::executor {
namespace {

// "%7 = load <2 x float>, <2 x float>* %5, align 8, !dbg !9", or of a scalar.
struct Load {
  size_t line = 0;
  std::string result, type, element, pointer, behind;
  int count = 1;
  int alignment = 0;
  SharedAddress address;
  int first = 0;  // Element of the segment.
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
  Function(const std::vector<std::string>& lines, const std::set<std::string>& shared,
           const std::map<std::string, WordStructure>& structures, int* number)
      : lines_(lines), shared_(shared), number_(number), addresses_(lines, shared, structures) {}

  std::vector<std::string> Widened() {
    FindAlignments();
    std::vector<Load> together;
    for (size_t i = 0; i < lines_.size(); ++i) {
      Load load;
      if (ParseLoad(lines_[i], &load)) {
        load.line = i;
        load.address = addresses_.Resolve(load.pointer);
        if (addresses_.Remainder(load.address).has_value()) together.push_back(load);
        continue;
      }
      if (!EndsGroup(lines_[i])) continue;
      Merge(together);
      together.clear();
    }
    std::vector<std::string> result;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto found = replaced_.find(i);
      if (found == replaced_.end()) {
        result.push_back(lines_[i]);
        continue;
      }
      for (const absl::string_view line : absl::StrSplit(found->second, '\n')) {
        result.emplace_back(line);
      }
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

  // What loads with an alignment of 16 say of their roots.
  void FindAlignments() {
    for (const std::string& line : lines_) {
      Load load;
      if (!ParseLoad(line, &load) || load.alignment < 16) continue;
      addresses_.SetAligned(addresses_.Resolve(load.pointer));
    }
  }

  void Merge(const std::vector<Load>& loads) {
    std::map<std::pair<std::string, int64_t>, std::vector<Load>> segments;
    for (Load load : loads) {
      const int64_t element = load.address.offset / 4 + *addresses_.Remainder(load.address);
      const int64_t segment = element >= 0 ? element / kSegment : -((3 - element) / kSegment);
      load.first = static_cast<int>(element - segment * kSegment);
      if (load.first + load.count > kSegment) continue;
      segments[{load.address.root + load.element, segment}].push_back(load);
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
      replaced_[load.line] = &load == &first ? absl::StrCat(text, line) : line;
    }
  }

  const std::vector<std::string>& lines_;
  const std::set<std::string>& shared_;
  int* number_;
  SharedAddresses addresses_;
  std::map<size_t, std::string> replaced_;  // What stands in place of a line.
};

}  // namespace

std::vector<std::string> WithWideSharedLoads(std::vector<std::string> lines) {
  const std::set<std::string> shared = SharedVariables(lines);
  const std::map<std::string, WordStructure> structures = WordStructures(lines);
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Function(function, shared, structures, &number).Widened();
  });
}

}  // namespace stridewise::executor
