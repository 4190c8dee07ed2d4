#include "common/executor/ptx/atomic_opcode.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace stridewise::executor {
namespace {

template <typename T>
uint64_t AddFloats(uint64_t a, uint64_t b) {
  T x, y;
  std::memcpy(&x, &a, sizeof(x));
  std::memcpy(&y, &b, sizeof(y));
  x += y;
  uint64_t sum = 0;
  std::memcpy(&sum, &x, sizeof(x));
  return sum;
}

template <typename T>
bool IsLess(uint64_t a, uint64_t b) {
  return static_cast<T>(a) < static_cast<T>(b);
}

}  // namespace

std::optional<PtxOpcode> FindAtomicOpcode(const std::vector<absl::string_view>& names) {
  // name[.relaxed][.scope][.space].operation.type
  const struct {
    const char* name;
    char operation;
  } operations[] = {{"add", '+'}, {"min", '<'}, {"max", '>'}, {"and", '&'},  {"or", '|'},
                    {"xor", '^'}, {"inc", 'i'}, {"dec", 'd'}, {"exch", 'x'}, {"cas", 'c'}};
  if (names.size() < 3 || (names[0] != "atom" && names[0] != "red")) return std::nullopt;
  PtxOpcode opcode = {PtxKind::kAtomic};
  opcode.has_result = names[0] == "atom";
  size_t next = 1;
  if (names[next] == "relaxed") ++next;
  for (const char* const scope : {"cta", "cluster", "gpu", "sys"}) {
    if (names[next] == scope) {
      ++next;
      break;
    }
  }
  if (next + 2 < names.size()) {
    const auto space = FindPtxSpace(names[next++]);
    if (!space) return std::nullopt;
    opcode.space = *space;
  }
  if (next + 2 != names.size()) return std::nullopt;
  for (const auto& entry : operations) {
    if (names[next] == entry.name) opcode.operation = entry.operation;
  }
  const auto type = FindPtxType(names[next + 1]);
  if (opcode.operation == 0 || !type || type->bits < 32 || type->letter == 'p') {
    return std::nullopt;
  }
  opcode.type = *type;
  const char letter = opcode.type.letter;
  bool known = false;
  switch (opcode.operation) {
    case '+':
      known = letter != 'b' && (letter != 's' || type->bits == 32);
      break;
    case '<':
    case '>':
      known = letter == 'u' || letter == 's';
      break;
    case 'i':
    case 'd':
      known = letter == 'u' && type->bits == 32;
      break;
    case 'x':
    case 'c':
      known = opcode.has_result && letter == 'b';
      break;
    default:
      known = letter == 'b';
  }
  return known ? std::optional<PtxOpcode>(opcode) : std::nullopt;
}

uint64_t AtomicResult(const PtxOpcode& opcode, uint64_t old, uint64_t value, uint64_t swap) {
  const bool wide = opcode.type.bits == 64;
  const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
  old &= mask;
  value &= mask;
  const auto is_less = [&](uint64_t a, uint64_t b) {
    if (opcode.type.letter == 'u') return a < b;
    return wide ? IsLess<int64_t>(a, b) : IsLess<int32_t>(a, b);
  };
  switch (opcode.operation) {
    case '+':
      if (opcode.type.letter != 'f') return (old + value) & mask;
      return wide ? AddFloats<double>(old, value) : AddFloats<float>(old, value);
    case '<':
      return is_less(value, old) ? value : old;
    case '>':
      return is_less(old, value) ? value : old;
    case '&':
      return old & value;
    case '|':
      return old | value;
    case '^':
      return old ^ value;
    case 'i':
      return old >= value ? 0 : old + 1;
    case 'd':
      return old == 0 || old > value ? value : old - 1;
    case 'x':
      return value;
    default:  // 'c'
      return old == value ? swap & mask : old;
  }
}

}  // namespace stridewise::executor
