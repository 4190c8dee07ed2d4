// Where rows of matrices begin and end, as they are stored.

#ifndef STRIDEWISE_MATMUL_ROWS_H_
#define STRIDEWISE_MATMUL_ROWS_H_

#include <cstdint>

#include "matmul/args.h"

namespace stridewise {

// Returns whether some rows of an operand of 16-bit elements begin within a line of the L2.
inline bool BeginsOffLines(const MatMulInput& input) {
  constexpr int64_t kOfLine = 64;
  return input.ld % kOfLine != 0;
}

// Returns whether every row of C begins and ends a multiple of this number of elements behind its
// first element.
inline bool HasRowsOfVectors(const MatMulArgs& args, int64_t elements) {
  return args.c.ld % elements == 0 && args.n % elements == 0 &&
         (args.batch == 1 || args.c.stride % elements == 0);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ROWS_H_
