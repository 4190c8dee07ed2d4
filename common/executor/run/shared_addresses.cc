#include "common/executor/run/shared_addresses.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

// Steps that a search for a remainder may take.
constexpr int kMaxSteps = 2000;

// Returns the pointer behind "* ", or "".
std::string PointerOf(absl::string_view operation) {
  const size_t star = operation.find("* ");
  if (star == absl::string_view::npos || star + 2 >= operation.size() ||
      (operation[star + 2] != '%' && operation[star + 2] != '@')) {
    return "";
  }
  return std::string(NameAt(operation, star + 2));
}

}  // namespace

SharedAddresses::SharedAddresses(const std::vector<std::string>& lines,
                                 const std::set<std::string>& shared,
                                 const std::map<std::string, WordStructure>& structures)
    : lines_(lines), shared_(shared), structures_(structures) {
  for (size_t i = 0; i < lines_.size(); ++i) {
    const std::string name = Defined(lines_[i]);
    if (!name.empty()) definitions_[name] = i;
  }
}

absl::string_view SharedAddresses::DefinitionOf(absl::string_view name) const {
  const auto found = definitions_.find(std::string(name));
  if (found == definitions_.end()) return "";
  const absl::string_view all = Operation(lines_[found->second]);
  return all.substr(0, all.find(", !"));
}

SharedAddress SharedAddresses::Resolve(const std::string& pointer) {
  SharedAddress address;
  address.root = address.variable = pointer;
  for (;;) {
    const absl::string_view operation = DefinitionOf(address.root);
    const std::string from = PointerOf(operation);
    if (from.empty()) return address;
    if (absl::StartsWith(operation, "getelementptr ")) {
      const std::string type = TypeOf(
          operation.substr(absl::StartsWith(operation, "getelementptr inbounds ") ? 23 : 14));
      if (absl::StrContains(type, "%")) {
        if (!ResolveMember(operation, from, &address)) return address;
        address.root = address.variable = from;
        continue;
      }
      const bool of_array = absl::EndsWith(type, " x float]") || absl::EndsWith(type, " x i32]");
      const int bytes = type == "float" || type == "i32" ? 4 : type == "i8" ? 1 : 0;
      const size_t index = operation.rfind(", i64 ");
      int64_t by = 0;
      if (index == absl::string_view::npos) return address;
      const absl::string_view number = operation.substr(index + 6);
      if (!absl::SimpleAtoi(number, &by)) {
        if (bytes == 4 || (of_array && absl::StrContains(operation, ", i64 0, i64 "))) {
          SplitIndex(from, std::string(number), &address);
        }
        return address;
      }
      if (bytes == 0) return address;
      address.offset += by * bytes;
    } else if (!absl::StartsWith(operation, "bitcast ")) {
      return address;
    }
    address.root = address.variable = from;
  }
}

bool SharedAddresses::ResolveMember(absl::string_view operation, const std::string& from,
                                    SharedAddress* address) {
  const std::vector<std::string> parts = absl::StrSplit(operation, ", ");
  std::string index;
  std::string type =
      parts[0].substr(absl::StartsWith(parts[0], "getelementptr inbounds ") ? 23 : 14);
  int64_t offset = 0;
  int scale = 0;
  for (size_t i = 2; i < parts.size(); ++i) {
    const std::string value = parts[i].substr(parts[i].find(' ') + 1);
    int64_t number = 0;
    const bool constant = absl::SimpleAtoi(value, &number);
    const auto structure = structures_.find(type);
    if (i > 2 && structure != structures_.end()) {
      if (!constant || number >= static_cast<int64_t>(structure->second.types.size())) return false;
      offset += structure->second.begins[number];
      type = structure->second.types[number];
      continue;
    }
    if (i > 2) {  // An array.
      const size_t times = type.find(" x ");
      if (times == std::string::npos) return false;
      type = type.substr(times + 3, type.size() - times - 4);
    }
    const int words = Words(type, structures_);
    if (words == 0 || (!constant && !index.empty())) return false;
    if (constant) {
      offset += number * words;
    } else {
      index = value;
      scale = words;
    }
  }
  address->offset += offset * 4;
  if (index.empty()) return true;
  address->variable = from;
  address->root = absl::StrCat(from, "[", index, "*", scale);
  address->index = index;
  address->scale = scale;
  return false;
}

void SharedAddresses::SplitIndex(const std::string& pointer, const std::string& index,
                                 SharedAddress* address) {
  address->variable = pointer;
  std::string extension, value = index;
  for (int depth = 0; depth < 16; ++depth) {
    const absl::string_view operation = DefinitionOf(value);
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
      address->offset += low * 4;
      value = std::string(NameAt(operation, at));
      continue;
    }
    if (!absl::StartsWith(operation, "or ")) break;
    const std::string high(NameAt(operation, at));
    if (ValueRemainder(high) != std::optional<int>(0)) break;
    address->root = absl::StrCat(pointer, extension, high, "|", low / kSegment);
    address->offset += low % kSegment * 4;
    address->index = high;
    return;
  }
  address->root = absl::StrCat(pointer, extension, value, "|0");
  address->index = value;
}

void SharedAddresses::SetAligned(const SharedAddress& address) {
  remainders_[address.root] = static_cast<int>((-address.offset / 4) & (kSegment - 1));
}

std::optional<int> SharedAddresses::Remainder(const SharedAddress& address) {
  if (address.offset % 4 != 0) return std::nullopt;
  if (!PointsTo(absl::StrCat("* ", address.variable), lines_, shared_)) return std::nullopt;
  const auto known = remainders_.find(address.root);
  if (known != remainders_.end()) return known->second;
  if (address.index.empty()) return std::nullopt;
  std::optional<int> result = ValueRemainder(address.index);
  if (result.has_value()) result = (*result * address.scale) & (kSegment - 1);
  // A variable begins with a segment; a pointer that is indexed may be computed from one.
  if (result.has_value() && address.variable[0] != '@') {
    const SharedAddress indexed = Resolve(address.variable);
    const std::optional<int> of_root = Remainder(indexed);
    if (!of_root.has_value()) return std::nullopt;
    result = static_cast<int>((indexed.offset / 4 + *of_root + *result) & (kSegment - 1));
  }
  if (result.has_value()) remainders_[address.root] = *result;
  return result;
}

std::optional<int> SharedAddresses::ValueRemainder(absl::string_view value) {
  steps_ = 0;
  std::map<std::string, int> assumed;
  return ValueRemainder(value, &assumed);
}

// The two lowest bits of a value; `assumed` has those of phis that are being looked at.
std::optional<int> SharedAddresses::ValueRemainder(absl::string_view value,
                                                   std::map<std::string, int>* assumed) {
  int64_t number = 0;
  if (absl::SimpleAtoi(value, &number)) return static_cast<int>(number & (kSegment - 1));
  if (++steps_ > kMaxSteps) return std::nullopt;
  const auto assumption = assumed->find(std::string(value));
  if (assumption != assumed->end()) return assumption->second;
  const absl::string_view operation = DefinitionOf(value);
  if (operation.empty()) return std::nullopt;
  const absl::string_view opcode = operation.substr(0, operation.find(' '));
  if (opcode == "phi") return PhiRemainder(value, operation, *assumed);
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
std::optional<int> SharedAddresses::PhiRemainder(absl::string_view name,
                                                 absl::string_view operation,
                                                 const std::map<std::string, int>& assumed) {
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
    std::map<std::string, int> with = assumed;
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

}  // namespace stridewise::executor
