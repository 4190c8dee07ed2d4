#include "common/executor/run/filled_gaps.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

constexpr absl::string_view kFiller = "%simt.gap";
constexpr int kElements = 4;

int BytesOf(absl::string_view type) {
  if (type == "float" || type == "i32") return 4;
  if (type == "half" || type == "bfloat" || type == "i16") return 2;
  return type == "i8" ? 1 : 0;
}

// Of structures, by name: the types of their members.
using Structures = std::map<std::string, std::vector<std::string>>;

Structures StructuresOf(const std::vector<std::string>& lines) {
  Structures structures;
  for (const absl::string_view line : lines) {
    const size_t open = line.find(" = type { ");
    if (!absl::StartsWith(line, "%") || open == absl::string_view::npos) continue;
    structures[std::string(line.substr(0, open))] =
        absl::StrSplit(line.substr(open + 10, line.rfind(" }") - open - 10), ", ");
  }
  return structures;
}

// A load of element `index` of what `place` names: a getelementptr but for its last number.
struct Member {
  size_t line = 0;
  std::string type, place;
  int index = 0;
  int alignment = 0;
};

// Finds the lines to insert behind those of a function.
class Gaps {
 public:
  Gaps(const Structures& structures, int* number) : structures_(structures), number_(number) {}

  std::map<size_t, std::vector<std::string>> Fillers(const std::vector<std::string>& function) {
    for (size_t i = 0; i < function.size(); ++i) {
      const absl::string_view operation = Operation(function[i]);
      if (!LabelOf(function[i]).empty() || function[i] == "}") EndBlock();
      if (absl::StartsWith(operation, "getelementptr ")) {
        addresses_[Defined(function[i])] =
            absl::StrReplaceAll(operation.substr(0, operation.find(", !")), {{" inbounds", ""}});
      } else if (absl::StartsWith(operation, "load ")) {
        AddLoad(i, operation);
      }
    }
    return std::move(fillers_);
  }

 private:
  void AddLoad(size_t i, absl::string_view operation) {
    Member member;
    member.line = i;
    member.type = TypeOf(operation.substr(5));
    const size_t star = operation.find("* %"), align = operation.find(", align ");
    if (BytesOf(member.type) == 0 || star == absl::string_view::npos ||
        align == absl::string_view::npos) {
      return;
    }
    const absl::string_view number = operation.substr(align + 8);
    if (!absl::SimpleAtoi(number.substr(0, number.find(',')), &member.alignment)) return;
    const std::string pointer(NameAt(operation, star + 2));
    const std::string& address = addresses_[pointer];
    const size_t last = address.rfind(' ') + 1;
    member.place = address.substr(0, last);
    if (address.empty() || !absl::SimpleAtoi(address.substr(last), &member.index)) {
      member.place =
          absl::StrCat("getelementptr ", member.type, ", ", member.type, "* ", pointer, ", i64 ");
    }
    members_[absl::StrCat(member.place, BytesOf(member.type))].push_back(member);
  }

  void EndBlock() {
    for (const auto& place : members_) {
      std::set<int> indices;
      for (const Member& member : place.second) indices.insert(member.index);
      for (const Member& first : place.second) {
        const int bytes = BytesOf(first.type);
        if (first.alignment < kElements * bytes ||
            indices.count(first.index + 2) + indices.count(first.index + 3) == 0) {
          continue;
        }
        const std::vector<std::string> types = TypesFrom(first);
        for (int by = 1; by < static_cast<int>(types.size()); ++by) {
          if (!indices.insert(first.index + by).second) continue;
          const std::string name = absl::StrCat(kFiller, (*number_)++);
          std::vector<std::string>& lines = fillers_[first.line];
          lines.push_back(absl::StrCat("  ", name, ".p = ", first.place, first.index + by));
          lines.push_back(absl::StrCat("  ", name, " = load ", types[by], ", ", types[by], "* ",
                                       name, ".p, align ", by == 2 ? 2 * bytes : bytes));
        }
      }
    }
    members_.clear();
  }

  // The types of four elements of one size from this one on; none where they are others.
  std::vector<std::string> TypesFrom(const Member& first) const {
    if (absl::EndsWith(first.place, " i64 ")) {
      return std::vector<std::string>(kElements, first.type);
    }
    // Members of a structure that is an element of nothing but an array.
    const std::vector<std::string> operands = absl::StrSplit(first.place, ", ");
    const auto found = structures_.find(operands[0].substr(operands[0].find(' ') + 1));
    if (operands.size() != 4 || found == structures_.end()) return {};
    std::vector<std::string> types;
    for (int i = 0; i < kElements; ++i) {
      const auto member = static_cast<size_t>(first.index + i);
      if (member >= found->second.size()) return {};
      types.push_back(found->second[member]);
      if (BytesOf(types.back()) != BytesOf(first.type)) return {};
    }
    return types;
  }

  const Structures& structures_;
  int* number_;
  std::map<std::string, std::string> addresses_;        // Of the function.
  std::map<std::string, std::vector<Member>> members_;  // Of a block, by place and size.
  std::map<size_t, std::vector<std::string>> fillers_;
};

}  // namespace

std::vector<std::string> WithFilledGaps(std::vector<std::string> lines) {
  const Structures structures = StructuresOf(lines);
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    std::map<size_t, std::vector<std::string>> fillers =
        Gaps(structures, &number).Fillers(function);
    std::vector<std::string> result;
    for (size_t i = 0; i < function.size(); ++i) {
      result.push_back(std::move(function[i]));
      for (std::string& line : fillers[i]) result.push_back(std::move(line));
    }
    return result;
  });
}

std::vector<std::string> WithoutUnusedFillers(std::vector<std::string> lines) {
  std::vector<std::string> result;
  for (std::string& line : lines) {
    if (absl::StartsWith(Defined(line), kFiller) && absl::StartsWith(Operation(line), "load ")) {
      continue;
    }
    result.push_back(std::move(line));
  }
  return result;
}

}  // namespace stridewise::executor
