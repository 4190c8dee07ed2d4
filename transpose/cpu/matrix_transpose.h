// Where a matrix and its transpose lie, for transposes on the host that know only the bytes of an
// element.

#ifndef STRIDEWISE_TRANSPOSE_CPU_MATRIX_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_CPU_MATRIX_TRANSPOSE_H_

#include <cstdint>

namespace stridewise {

inline constexpr int64_t kLineBytes = 64;  // Of the caches.

// Distances of rows are in bytes. Elements have 1, 2, 4, 8 or 16 bytes.
struct MatrixTranspose {
  const uint8_t* in;
  int64_t ld_in;
  uint8_t* out;
  int64_t ld_out;
  int64_t rows;  // Of the input.
  int64_t cols;
  int64_t element_bytes;

  // Returns whether all rows of the output begin with cache lines.
  bool aligned() const {
    return reinterpret_cast<uintptr_t>(out) % kLineBytes == 0 && ld_out % kLineBytes == 0;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_MATRIX_TRANSPOSE_H_
