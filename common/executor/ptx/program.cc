#include "common/executor/ptx/program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/executor/ptx/operand_rules.h"

namespace stridewise::executor {
namespace {

constexpr std::pair<const char*, PtxSpecial> kSpecials[] = {
    {"%laneid", PtxSpecial::kLaneId},
    {"%cluster_ctarank", PtxSpecial::kClusterRank},
    {"%cluster_nctarank", PtxSpecial::kClusterBlocks},
    {"%cluster_ctaid.x", PtxSpecial::kRankX},
    {"%cluster_ctaid.y", PtxSpecial::kRankY},
    {"%cluster_ctaid.z", PtxSpecial::kRankZ},
    {"%cluster_nctaid.x", PtxSpecial::kBlocksX},
    {"%cluster_nctaid.y", PtxSpecial::kBlocksY},
    {"%cluster_nctaid.z", PtxSpecial::kBlocksZ},
    {"%clusterid.x", PtxSpecial::kClusterX},
    {"%clusterid.y", PtxSpecial::kClusterY},
    {"%clusterid.z", PtxSpecial::kClusterZ},
    {"%nclusterid.x", PtxSpecial::kClustersX},
    {"%nclusterid.y", PtxSpecial::kClustersY},
    {"%nclusterid.z", PtxSpecial::kClustersZ},
};

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%'; }

// Drops the last operand where it only is a hint. Returns whether there is one.
bool DropPolicy(PtxInstruction* instruction) {
  if (!instruction->opcode.has_policy) return true;
  auto& operands = instruction->operands;
  if (operands.empty() || operands.back().is_address || operands.back().values.size() != 1) {
    return false;
  }
  operands.pop_back();
  return true;
}

// Returns the text behind the braces that it begins with.
absl::string_view WithoutBraces(absl::string_view text) {
  while (absl::ConsumePrefix(&text, "{") || absl::ConsumePrefix(&text, "}")) {
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return text;
}

class Parser {
 public:
  PtxProgram Parse(absl::string_view text) {
    // Braces around statements only limit the scope of names; braces of vectors stand in operands.
    for (absl::string_view statement : absl::StrSplit(text, ';')) {
      statement = WithoutBraces(absl::StripAsciiWhitespace(statement));
      if (!statement.empty()) Statement(statement);
    }
    for (const auto& [instruction, label] : branches_) {
      const auto at = labels_.find(label);
      if (at == labels_.end()) Unknown(absl::StrCat("the label '", label, "'"));
      if (at != labels_.end()) program_.instructions[instruction].target = at->second;
    }
    if (program_.registers > kMaxPtxRegisters) Unknown("more registers than the executor has");
    return std::move(program_);
  }

 private:
  void Unknown(absl::string_view what) {
    if (program_.unknown.empty()) program_.unknown = std::string(what);
  }

  void Statement(absl::string_view text) {
    absl::string_view rest = text;
    // Labels.
    for (;;) {
      size_t length = 0;
      while (length < rest.size() && IsNameCharacter(rest[length])) ++length;
      if (length == 0 || length == rest.size() || rest[length] != ':' ||
          absl::StartsWith(rest.substr(length), "::")) {
        break;
      }
      labels_[std::string(rest.substr(0, length))] = static_cast<int>(program_.instructions.size());
      rest = WithoutBraces(absl::StripLeadingAsciiWhitespace(rest.substr(length + 1)));
      if (rest.empty()) return;
    }
    if (absl::ConsumePrefix(&rest, ".reg")) {
      Declare(rest);
      return;
    }
    PtxInstruction instruction;
    if (absl::ConsumePrefix(&rest, "@")) {
      instruction.guard_negated = absl::ConsumePrefix(&rest, "!");
      const std::string guard(rest.substr(0, rest.find_first_of(" \t\n")));
      rest = absl::StripLeadingAsciiWhitespace(rest.substr(guard.size()));
      const auto found = registers_.find(guard);
      if (found == registers_.end()) return Unknown(absl::StrCat("the predicate '", guard, "'"));
      instruction.guard = found->second;
    }
    instruction.name = std::string(rest.substr(0, rest.find_first_of(" \t\n")));
    const auto opcode = FindPtxOpcode(instruction.name);
    if (!opcode) return Unknown(absl::StrCat("the instruction '", instruction.name, "'"));
    instruction.opcode = *opcode;
    rest = absl::StripAsciiWhitespace(rest.substr(instruction.name.size()));
    if (opcode->kind == PtxKind::kCachePolicy) rest = rest.substr(0, rest.find(','));
    if (opcode->kind == PtxKind::kBranch) {
      branches_.emplace_back(program_.instructions.size(), std::string(rest));
    } else if (!Operands(rest, &instruction) || !DropPolicy(&instruction) ||
               !HasItsOperands(instruction)) {
      return Unknown(absl::StrCat("the operands of '", text, "'"));
    }
    program_.instructions.push_back(std::move(instruction));
  }

  // .reg .type name, name<count>.
  void Declare(absl::string_view text) {
    text = absl::StripLeadingAsciiWhitespace(text);
    const size_t space = text.find_first_of(" \t\n");
    if (space == absl::string_view::npos) return Unknown("a declaration of registers");
    for (absl::string_view name : absl::StrSplit(text.substr(space), ',')) {
      name = absl::StripAsciiWhitespace(name);
      const size_t angle = name.find('<');
      int count = 0;
      if (angle == absl::string_view::npos) {
        registers_[std::string(name)] = program_.registers++;
      } else if (absl::SimpleAtoi(absl::StripSuffix(name.substr(angle + 1), ">"), &count)) {
        for (int i = 0; i < count; ++i) {
          registers_[absl::StrCat(name.substr(0, angle), i)] = program_.registers++;
        }
      }
    }
  }

  std::optional<PtxValue> Value(absl::string_view text) {
    text = absl::StripAsciiWhitespace(text);
    if (text == "_") return PtxValue{PtxValue::Kind::kSink, 0};
    const auto found = registers_.find(std::string(text));
    if (found != registers_.end()) {
      return PtxValue{PtxValue::Kind::kRegister, static_cast<uint64_t>(found->second)};
    }
    uint64_t number = 0;
    if (absl::StartsWith(text, "%") && absl::SimpleAtoi(text.substr(1), &number)) {
      program_.arguments = std::max(program_.arguments, static_cast<int>(number) + 1);
      return PtxValue{PtxValue::Kind::kArgument, number};
    }
    int64_t immediate = 0;
    if (absl::SimpleAtoi(text, &immediate)) {
      return PtxValue{PtxValue::Kind::kImmediate, static_cast<uint64_t>(immediate)};
    }
    if (absl::StartsWith(text, "0x") && absl::SimpleHexAtoi(text, &number)) {
      return PtxValue{PtxValue::Kind::kImmediate, number};
    }
    if (absl::StartsWithIgnoreCase(text, "0f") && absl::SimpleHexAtoi(text.substr(2), &number)) {
      return PtxValue{PtxValue::Kind::kImmediate, number};
    }
    for (const auto& [name, special] : kSpecials) {
      if (text == name) return PtxValue{PtxValue::Kind::kSpecial, static_cast<uint64_t>(special)};
    }
    return std::nullopt;
  }

  // Adds the values of a list to the operand. Returns whether all are values.
  bool AddValues(absl::string_view list, char separator, PtxOperand* operand) {
    for (const absl::string_view element : absl::StrSplit(list, separator)) {
      const auto value = Value(element);
      if (!value) return false;
      operand->values.push_back(*value);
    }
    return true;
  }

  // What stands in brackets: a + offset, or map, {x, y}, whose coordinates follow the address.
  bool Address(absl::string_view text, PtxOperand* operand) {
    operand->is_address = true;
    absl::string_view coordinates;
    const size_t brace = text.find('{');
    if (brace != absl::string_view::npos && absl::ConsumeSuffix(&text, "}")) {
      coordinates = text.substr(brace + 1);
      text = absl::StripAsciiWhitespace(text.substr(0, brace));
      if (!absl::ConsumeSuffix(&text, ",")) return false;
    }
    const size_t plus = text.find('+');
    if (plus != absl::string_view::npos) {
      const absl::string_view offset = absl::StripAsciiWhitespace(text.substr(plus + 1));
      if (!absl::SimpleAtoi(offset, &operand->offset)) return false;
      text = text.substr(0, plus);
    }
    return AddValues(text, '|', operand) &&
           (coordinates.empty() || AddValues(coordinates, ',', operand));
  }

  bool Operand(absl::string_view text, PtxOperand* operand) {
    if (absl::ConsumePrefix(&text, "{") && absl::ConsumeSuffix(&text, "}")) {
      return AddValues(text, ',', operand);
    }
    if (absl::ConsumePrefix(&text, "[") && absl::ConsumeSuffix(&text, "]")) {
      return Address(text, operand);
    }
    return AddValues(text, '|', operand);  // a|b: two results, of elect.sync.
  }

  bool Operands(absl::string_view text, PtxInstruction* instruction) {
    size_t at = 0;
    while (at < text.size()) {
      // Up to a comma outside of braces and brackets.
      size_t end = at;
      int depth = 0;
      while (end < text.size() && (depth > 0 || text[end] != ',')) {
        if (text[end] == '{' || text[end] == '[') ++depth;
        if (text[end] == '}' || text[end] == ']') --depth;
        ++end;
      }
      PtxOperand operand;
      if (!Operand(absl::StripAsciiWhitespace(text.substr(at, end - at)), &operand)) return false;
      instruction->operands.push_back(std::move(operand));
      at = end + 1;
    }
    return true;
  }

  PtxProgram program_;
  std::map<std::string, int> registers_;
  std::map<std::string, int> labels_;
  std::vector<std::pair<size_t, std::string>> branches_;
};

}  // namespace

PtxProgram ParsePtx(absl::string_view text) {
  // Comments, then %% as GCC's syntax writes a percent sign.
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    const absl::string_view rest = text.substr(i);
    if (absl::StartsWith(rest, "//")) {
      i += std::min(rest.find('\n'), rest.size());
    } else if (absl::StartsWith(rest, "/*")) {
      i += std::min(rest.find("*/"), rest.size() - 2) + 2;
    } else {
      plain += text[i++];
    }
  }
  return Parser().Parse(absl::StrReplaceAll(plain, {{"%%", "%"}}));
}

}  // namespace stridewise::executor
