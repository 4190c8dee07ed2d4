#include "common/executor/ptx/program.h"

#include <algorithm>
#include <initializer_list>
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
#include "common/executor/ptx/wgmma.h"

namespace stridewise::executor {
namespace {

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%'; }

// Returns whether the operands have these numbers of values; 0 is an address.
bool HasValues(const PtxInstruction& instruction, std::initializer_list<int> values) {
  if (instruction.operands.size() != values.size()) return false;
  size_t i = 0;
  for (const int count : values) {
    const PtxOperand& operand = instruction.operands[i++];
    if (operand.is_address != (count == 0)) return false;
    if (static_cast<int>(operand.values.size()) != std::max(count, 1)) return false;
  }
  return true;
}

bool MbarrierHasItsOperands(const PtxInstruction& instruction) {
  switch (instruction.opcode.barrier) {
    case MbarrierOp::kInit:
    case MbarrierOp::kExpectBytes:
    case MbarrierOp::kCompleteBytes:
      return HasValues(instruction, {0, 1});
    case MbarrierOp::kInvalidate:
      return HasValues(instruction, {0});
    case MbarrierOp::kArrive:
      return HasValues(instruction, {1, 0, 1}) ||
             (!instruction.opcode.expects_bytes && HasValues(instruction, {1, 0}));
    case MbarrierOp::kWait:
      return HasValues(instruction, {1, 0, 1}) || HasValues(instruction, {1, 0, 1, 1});
    case MbarrierOp::kPendingCount:
      return HasValues(instruction, {1, 1});
  }
  return false;
}

// D, A, B, scale-d; but for integers two factors of 1 or -1; and of 16-bit operands in shared
// memory whether each is turned.
bool WgmmaHasItsOperands(const PtxInstruction& instruction) {
  const TensorForm& form = instruction.opcode.form;
  const auto& operands = instruction.operands;
  if (operands.size() < 4) return false;
  const bool a_in_registers = operands[1].values.size() == kWgmmaWordsOfA;
  const size_t factors = form.sums == TensorType::kS32 ? 0 : 2;
  const size_t turns = TensorTypeBits(form.a) != 16 ? 0 : a_in_registers ? 1 : 2;
  if (operands.size() != 4 + factors + turns ||
      operands[0].values.size() != static_cast<size_t>(WgmmaWordsOfD(form))) {
    return false;
  }
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].is_address) return false;
    if (operands[i].values.size() != 1 && !(i == 1 && a_in_registers)) return false;
  }
  return true;
}

// The address in global memory is a map with coordinates, of a plain copy the bytes follow both
// addresses, and a load has a barrier and perhaps the blocks that it goes to.
bool BulkCopyHasItsOperands(const PtxInstruction& instruction) {
  const PtxOpcode& opcode = instruction.opcode;
  const bool loads = opcode.kind == PtxKind::kBulkLoad;
  const size_t global = loads ? 1 : 0;
  const size_t barrier = !loads ? 0 : opcode.dimensions > 0 ? 2 : 3;
  const size_t needed =
      2 + (opcode.dimensions > 0 ? 0 : 1) + (loads ? 1 : 0) + (opcode.multicast ? 1 : 0);
  const auto& operands = instruction.operands;
  if (operands.size() != needed) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t values = i == global ? 1 + static_cast<size_t>(opcode.dimensions) : 1;
    const bool is_address = i < 2 || (loads && i == barrier);
    if (operands[i].is_address != is_address || operands[i].values.size() != values) return false;
  }
  return true;
}

// Returns whether the instruction has the operands that it needs.
bool HasItsOperands(const PtxInstruction& instruction) {
  const PtxOpcode& opcode = instruction.opcode;
  const int count = opcode.count;
  switch (opcode.kind) {
    case PtxKind::kMove:
    case PtxKind::kRoundToTf32:
    case PtxKind::kTransposeMatrix:
    case PtxKind::kRankOfAddress:
      return HasValues(instruction, {1, 1});
    case PtxKind::kCachePolicy:
      return HasValues(instruction, {1});
    case PtxKind::kAtomic:
      if (!opcode.has_result) return HasValues(instruction, {0, 1});
      return opcode.operation == 'c' ? HasValues(instruction, {1, 0, 1, 1})
                                     : HasValues(instruction, {1, 0, 1});
    case PtxKind::kSetPredicate:
    case PtxKind::kSharedOfCluster:
      return HasValues(instruction, {1, 1, 1});
    case PtxKind::kSelect:
      return HasValues(instruction, {1, 1, 1, 1});
    case PtxKind::kArithmetic:
      return opcode.operation == 'm' ? HasValues(instruction, {1, 1, 1, 1})
                                     : HasValues(instruction, {1, 1, 1});
    case PtxKind::kLoad:
    case PtxKind::kLoadMatrices:
      return HasValues(instruction, {count, 0});
    case PtxKind::kStore:
    case PtxKind::kStoreMatrices:
      return HasValues(instruction, {0, count});
    case PtxKind::kCopyAsync:
      return HasValues(instruction, {0, 0, 1}) || HasValues(instruction, {0, 0, 1, 1});
    case PtxKind::kBulkLoad:
    case PtxKind::kBulkStore:
      return BulkCopyHasItsOperands(instruction);
    case PtxKind::kWgmma:
      return WgmmaHasItsOperands(instruction);
    case PtxKind::kRegisters:
    case PtxKind::kWaitForCopies:
    case PtxKind::kWgmmaWait:
    case PtxKind::kWaitForBulkCopies:
      return HasValues(instruction, {1});
    case PtxKind::kBarrier:
      return HasValues(instruction, {1, 1}) ||
             (opcode.barrier == MbarrierOp::kWait && HasValues(instruction, {1}));
    case PtxKind::kMbarrier:
      return MbarrierHasItsOperands(instruction);
    case PtxKind::kArriveAfterCopies:
      return HasValues(instruction, {0});
    case PtxKind::kElect:
      return HasValues(instruction, {2, 1});
    case PtxKind::kMultiply: {
      const TensorForm& form = opcode.form;
      const int bits_of_k = form.k * TensorTypeBits(form.a);
      const int sums = form.m * form.n * TensorTypeBits(form.sums) / 1024;
      return HasValues(instruction,
                       {sums, form.m * bits_of_k / 1024, form.n * bits_of_k / 1024, sums});
    }
    case PtxKind::kBranch:
    case PtxKind::kNothing:
    case PtxKind::kProxyFence:
    case PtxKind::kMbarrierInitFence:
    case PtxKind::kCommitBulkCopies:
    case PtxKind::kWgmmaFence:
    case PtxKind::kWgmmaCommit:
    case PtxKind::kClusterBarrier:
    case PtxKind::kCommitCopies:
    case PtxKind::kWaitForAllCopies:
      return true;
  }
  return false;
}

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

class Parser {
 public:
  PtxProgram Parse(absl::string_view text) {
    // Braces around statements only limit the scope of names; braces of vectors stand in operands.
    for (absl::string_view statement : absl::StrSplit(text, ';')) {
      statement = absl::StripAsciiWhitespace(statement);
      while (absl::ConsumePrefix(&statement, "{") || absl::ConsumePrefix(&statement, "}")) {
        statement = absl::StripLeadingAsciiWhitespace(statement);
      }
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
      rest = absl::StripLeadingAsciiWhitespace(rest.substr(length + 1));
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
    const std::pair<const char*, PtxSpecial> specials[] = {
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
    for (const auto& [name, special] : specials) {
      if (text == name) return PtxValue{PtxValue::Kind::kSpecial, static_cast<uint64_t>(special)};
    }
    return std::nullopt;
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
      absl::string_view part = absl::StripAsciiWhitespace(text.substr(at, end - at));
      at = end + 1;
      PtxOperand operand;
      absl::string_view coordinates;
      if (absl::ConsumePrefix(&part, "{") && absl::ConsumeSuffix(&part, "}")) {
        for (const absl::string_view element : absl::StrSplit(part, ',')) {
          const auto value = Value(element);
          if (!value) return false;
          operand.values.push_back(*value);
        }
      } else {
        if (absl::ConsumePrefix(&part, "[") && absl::ConsumeSuffix(&part, "]")) {
          operand.is_address = true;
          // [map, {x, y}]: the coordinates follow the address.
          const size_t brace = part.find('{');
          if (brace != absl::string_view::npos && absl::ConsumeSuffix(&part, "}")) {
            coordinates = part.substr(brace + 1);
            part = absl::StripAsciiWhitespace(part.substr(0, brace));
            if (!absl::ConsumeSuffix(&part, ",")) return false;
          }
          const size_t plus = part.find('+');
          if (plus != absl::string_view::npos) {
            if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(part.substr(plus + 1)),
                                  &operand.offset)) {
              return false;
            }
            part = part.substr(0, plus);
          }
        }
        // a|b: two results, of elect.sync.
        for (const absl::string_view element : absl::StrSplit(part, '|')) {
          const auto value = Value(element);
          if (!value) return false;
          operand.values.push_back(*value);
        }
        if (!coordinates.empty()) {
          for (const absl::string_view coordinate : absl::StrSplit(coordinates, ',')) {
            const auto value = Value(coordinate);
            if (!value) return false;
            operand.values.push_back(*value);
          }
        }
      }
      instruction->operands.push_back(std::move(operand));
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
