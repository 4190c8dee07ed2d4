// What scalar instructions of inline PTX compute, on the bits of their operands.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_ARITHMETIC_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_ARITHMETIC_H_

#include <cstdint>

#include "common/executor/ptx/program.h"

namespace stridewise::executor {

// Returns the value of this type that the low bits have, with its sign.
uint64_t Truncate(uint64_t bits, const PtxType& type);

// Returns a + b, a * b + c and so on: `operation` is that of a PtxOpcode.
uint64_t Compute(char operation, uint64_t a, uint64_t b, uint64_t c, const PtxType& type);

// Returns whether a setp with this opcode sets its predicate.
bool CompareAs(const PtxOpcode& opcode, uint64_t a, uint64_t b);

// Rounds a float to the nearest TF32, ties away from zero.
uint32_t RoundToTf32(uint32_t bits);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_ARITHMETIC_H_
