#include "common/executor/run/ir_operation.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/math_names.h"

namespace stridewise::executor {
namespace {

// What may move, and what of it must agree.
enum class Kind { kNone, kPlain, kCast, kAddress, kLoad, kStore, kElement, kCall };

Kind KindOf(absl::string_view opcode, absl::string_view line) {
  static const std::set<std::string>* const plain = new std::set<std::string>{
      "add", "sub", "mul",  "udiv", "sdiv", "urem", "srem", "shl",  "lshr", "ashr", "and",
      "or",  "xor", "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "icmp", "fcmp", "select"};
  static const std::set<std::string>* const casts =
      new std::set<std::string>{"zext",   "sext",   "trunc",  "fptrunc", "fpext",
                                "fptosi", "fptoui", "sitofp", "uitofp",  "bitcast"};
  if (plain->count(std::string(opcode)) > 0) return Kind::kPlain;
  if (casts->count(std::string(opcode)) > 0) return Kind::kCast;
  if (opcode == "getelementptr") return Kind::kAddress;
  if (opcode == "load") return Kind::kLoad;
  if (opcode == "store") return Kind::kStore;
  if (opcode == "extractelement" || opcode == "insertelement") return Kind::kElement;
  if ((opcode == "call" || opcode == "tail") &&
      (NamesMath(line) || absl::StrContains(line, " @simt_atomic"))) {
    return Kind::kCall;
  }
  return Kind::kNone;
}

bool IsValue(absl::string_view word) {
  static const std::set<std::string>* const constants =
      new std::set<std::string>{"true", "false", "null", "undef", "poison", "zeroinitializer"};
  return !word.empty() && (word[0] == '%' || word[0] == '@' || word[0] == '-' ||
                           absl::ascii_isdigit(static_cast<unsigned char>(word[0])) ||
                           constants->count(std::string(word)) > 0);
}

bool IsPointer(absl::string_view type) { return absl::EndsWith(type, "*"); }

// The places of commas outside of brackets, and of the end.
std::vector<size_t> PartsOf(absl::string_view text) {
  std::vector<size_t> ends;
  int open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::StrContains("([{<", text.substr(i, 1))) ++open;
    if (absl::StrContains(")]}>", text.substr(i, 1))) --open;
    if (text[i] == ',' && open == 0) ends.push_back(i);
  }
  ends.push_back(text.size());
  return ends;
}

// Adds the operands of comma-separated text: each is the last word of its part.
void AddOperands(absl::string_view text, bool first_is_type, IrOperation* operation) {
  size_t begin = 0;
  std::string type;
  bool first = true;
  for (const size_t end : PartsOf(text)) {
    const absl::string_view part = text.substr(begin, end - begin);
    const size_t space = part.rfind(' ');
    const absl::string_view value = part.substr(space + 1);
    const bool is_type = first && first_is_type;
    if (is_type || absl::StrContains(part, '(') || absl::StrContains(part, " align ") ||
        space == absl::string_view::npos || !IsValue(value)) {
      absl::StrAppend(&operation->texts.back(), part);
    } else {
      const absl::string_view before = absl::StripAsciiWhitespace(part.substr(0, space));
      if (!before.empty()) type = TypeOf(before);
      absl::StrAppend(&operation->texts.back(), part.substr(0, space + 1));
      operation->operands.push_back({type, std::string(value), IsPointer(type)});
      operation->texts.emplace_back();
    }
    if (end < text.size()) operation->texts.back() += ',';
    begin = end + 1;
    first = false;
  }
}

}  // namespace

bool IrOperation::IsIndex() const {
  return known() && (absl::StartsWith(texts[0], "zext ") || absl::StartsWith(texts[0], "sext "));
}

bool IrOperation::IsPure() const {
  if (!known()) return false;
  for (const char* other : {"load", "store", "call", "tail", "udiv", "sdiv", "urem", "srem"}) {
    if (absl::StartsWith(texts[0], other)) return false;
  }
  return true;
}

IrOperation OperationOf(absl::string_view line) {
  IrOperation result;
  absl::string_view text = Operation(line);
  const absl::string_view opcode = text.substr(0, text.find(' '));
  const Kind kind = KindOf(opcode, line);
  if (kind == Kind::kNone) return result;
  result.result = Defined(line);
  const size_t metadata = text.find(", !");
  if (metadata != absl::string_view::npos) {
    result.metadata = std::string(text.substr(metadata));
    text = text.substr(0, metadata);
  }
  if (kind == Kind::kCall) {
    const size_t open = text.find('(');
    const size_t close = text.rfind(')');
    result.texts.emplace_back(text.substr(0, open + 1));
    AddOperands(text.substr(open + 1, close - open - 1), false, &result);
    absl::StrAppend(&result.texts.back(), text.substr(close));
    return result;
  }
  const absl::string_view behind = BehindFlags(text);
  // Of promises only the predicate of a comparison stays, and whether an access is volatile.
  std::string head(opcode);
  absl::string_view rest = behind;
  if (absl::StartsWith(rest, "inbounds ")) rest = rest.substr(9);
  if (absl::StartsWith(rest, "volatile ") || opcode == "icmp" || opcode == "fcmp") {
    absl::StrAppend(&head, " ", rest.substr(0, rest.find(' ')));
    rest = rest.substr(rest.find(' ') + 1);
  }
  result.texts.push_back(head + " ");
  const size_t to = rest.find(" to ");
  if (kind == Kind::kCast && to != absl::string_view::npos) {
    AddOperands(rest.substr(0, to), false, &result);
    absl::StrAppend(&result.texts.back(), rest.substr(to));
  } else {
    AddOperands(rest, kind == Kind::kAddress || kind == Kind::kLoad, &result);
  }
  for (size_t i = 0; i < result.operands.size(); ++i) {
    IrOperand& operand = result.operands[i];
    // Of a structure, which member; of a vector, which element.
    if (kind == Kind::kAddress && operand.type == "i32") operand.must_agree = true;
    if (kind == Kind::kElement && i + 1 == result.operands.size()) operand.must_agree = true;
  }
  return result;
}

bool DoTheSame(const IrOperation& a, const IrOperation& b) {
  return a.known() && b.known() && a.texts == b.texts &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    [](const IrOperand& x, const IrOperand& y) { return x.type == y.type; });
}

std::string LineOf(const IrOperation& like, absl::string_view result,
                   const std::vector<std::string>& values) {
  std::string line = "  ";
  if (!result.empty()) absl::StrAppend(&line, result, " = ");
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&line, like.texts[i], values[i]);
  return absl::StrCat(line, like.texts.back(), like.metadata);
}

std::string KeyOf(IrOperation operation) {
  std::vector<std::string> values;
  for (const IrOperand& operand : operation.operands) values.push_back(operand.value);
  operation.metadata.clear();
  return LineOf(operation, "", values);
}

}  // namespace stridewise::executor
