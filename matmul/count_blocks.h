// What functions that count a kernel's work are made of.

#ifndef STRIDEWISE_MATMUL_COUNT_BLOCKS_H_
#define STRIDEWISE_MATMUL_COUNT_BLOCKS_H_

#include <cstdint>

#include "matmul/kernel_work.h"

namespace stridewise {

inline constexpr double kFloatMb = sizeof(float) / 1e6;

inline double Double(int64_t value) { return static_cast<double>(value); }

// Return the quotient of numbers that are not negative, rounded down and up. std::floor() would be
// a call of the C library.
inline double Floor(double a, const MatMulDivisor& b) {
  const double near = Double(static_cast<int64_t>(a * b.inverse));  // Off by 1 at most.
  const double rest = a - near * b.value;
  return near + (rest >= b.value ? 1 : 0) - (rest < 0 ? 1 : 0);
}
inline double Ceil(double a, const MatMulDivisor& b) {
  const double down = Floor(a, b);
  return down * b.value < a ? down + 1 : down;
}

// Adds rounds of blocks of `steps` k steps each, on multiprocessors that have room for `resident`.
inline void AddBlocks(const MatMulCall& call, double blocks, double steps,
                      const MatMulDivisor& resident, MatMulWork* work) {
  const MatMulDivisor slots = resident * call.multiprocessors;
  const double whole = Floor(blocks, slots);
  const double left = blocks - whole * slots.value;
  const double last = Ceil(left, call.multiprocessors);  // Blocks on a multiprocessor.
  const double rounds = whole + (left > 0 ? 1 : 0);
  const double resident_rounds = whole * resident.value + last;
  work->last = left > 0 ? left * slots.inverse : 1;
  work->rounds += rounds;
  work->tiles += resident_rounds;
  work->steps += rounds * steps;
  work->block_steps += resident_rounds * steps;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_COUNT_BLOCKS_H_
