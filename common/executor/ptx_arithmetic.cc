#include "common/executor/ptx_arithmetic.h"

#include <algorithm>
#include <cstring>

namespace stridewise::executor {

uint64_t Truncate(uint64_t bits, const PtxType& type) {
  if (type.bits >= 64) return bits;
  const uint64_t mask = (uint64_t{1} << type.bits) - 1;
  if (type.letter == 's' && (bits >> (type.bits - 1) & 1) != 0) return bits | ~mask;
  return bits & mask;
}

uint64_t Compute(char operation, uint64_t a, uint64_t b, uint64_t c, const PtxType& type) {
  const auto bits = static_cast<uint64_t>(type.bits);
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case 'm':
      return a * b + c;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case 'l':
      return b >= bits ? 0 : a << b;
    default:  // 'r'
      if (type.letter == 's') return static_cast<int64_t>(a) >> std::min(b, bits - 1);
      return b >= bits ? 0 : a >> b;
  }
}

namespace {

template <typename T>
bool Compare(char comparison, T a, T b) {
  switch (comparison) {
    case '=':
      return a == b;
    case '!':
      return a != b;
    case '<':
      return a < b;
    case '{':
      return a <= b;
    case '>':
      return a > b;
    default:  // '}'
      return a >= b;
  }
}

}  // namespace

bool CompareAs(const PtxOpcode& opcode, uint64_t a, uint64_t b) {
  a = Truncate(a, opcode.type);
  b = Truncate(b, opcode.type);
  if (opcode.type.letter == 's') {
    return Compare(opcode.operation, static_cast<int64_t>(a), static_cast<int64_t>(b));
  }
  if (opcode.type.letter == 'f') {
    const auto value = [](uint64_t bits) {
      const auto low = static_cast<uint32_t>(bits);
      float number;
      std::memcpy(&number, &low, sizeof(number));
      return number;
    };
    return Compare(opcode.operation, value(a), value(b));
  }
  return Compare(opcode.operation, a, b);
}

uint32_t RoundToTf32(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + 0x1000) & ~0x1fffu;
}

}  // namespace stridewise::executor
