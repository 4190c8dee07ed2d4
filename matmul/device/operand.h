// An operand of a product as kernels address it.
//
// A and B are treated alike. Both have an extent along k, and one along m (the rows of op(A)) or n
// (the columns of op(B)), which is called mn here.

#ifndef STRIDEWISE_MATMUL_DEVICE_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_OPERAND_H_

#include <cstdint>

namespace stridewise {

// Which elements are neighbours in memory.
enum class OperandLayout {
  kKMajor,   // Those along k, as in A and in B transposed.
  kMnMajor,  // Those along m or n, as in B and in A transposed.
};

template <typename T>
struct Operand {
  const T* data;
  int64_t ld;    // At most kMaxTileLd for the kernels that copy with tile_copy.h.
  int64_t mn;    // The number of rows of op(A), or of columns of op(B).
  bool vectors;  // Every row, as stored, begins and ends at a multiple of 16 bytes.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_OPERAND_H_
