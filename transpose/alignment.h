// The alignment of the rows of a transpose's matrices, which decides how wide accesses may be.

#ifndef STRIDEWISE_TRANSPOSE_ALIGNMENT_H_
#define STRIDEWISE_TRANSPOSE_ALIGNMENT_H_

#include <cstdint>

#include "transpose/args.h"

namespace stridewise {

// Returns whether the address is a multiple of `bytes`.
inline bool IsAt(const void* data, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0;
}

// Returns whether every row of every matrix of `in` begins at a multiple of `bytes`.
inline bool InRowsAreAt(const TransposeArgs& args, int64_t bytes) {
  const int64_t size = args.element_bytes;
  return IsAt(args.in, bytes) && args.ld_in * size % bytes == 0 &&
         (args.batch <= 1 || args.stride_in * size % bytes == 0);
}

// Returns the same for `out`.
inline bool OutRowsAreAt(const TransposeArgs& args, int64_t bytes) {
  const int64_t size = args.element_bytes;
  return IsAt(args.out, bytes) && args.ld_out * size % bytes == 0 &&
         (args.batch <= 1 || args.stride_out * size % bytes == 0);
}

// Returns whether all rows begin and end at multiples of `bytes`, on both sides: the matrices are
// made of whole pieces of that size.
inline bool IsMadeOf(const TransposeArgs& args, int64_t bytes) {
  return InRowsAreAt(args, bytes) && OutRowsAreAt(args, bytes) &&
         args.rows * args.element_bytes % bytes == 0 && args.cols * args.element_bytes % bytes == 0;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_ALIGNMENT_H_
