// Which vector of an operand's copy a thread makes, where one kernel copies two operands.

#ifndef STRIDEWISE_MATMUL_DEVICE_COPIED_VECTOR_H_
#define STRIDEWISE_MATMUL_DEVICE_COPIED_VECTOR_H_

#include <cuda_runtime.h>

#include <cstdint>

namespace stridewise {

// A vector of 16 bytes of a copy. An operand has `count` matrices of `rows` rows, whose copies have
// `chunks` such vectors each.
template <typename Operand>
struct CopiedVector {
  const Operand& operand;
  uint32_t line;    // The row, of those of all matrices behind each other.
  uint32_t chunk;   // In its row.
  uint32_t matrix;  // Of the batch.
  uint32_t row;     // In its matrix.
};

// Returns the vector of that number, of the first operand's `of_first` vectors and the second's
// behind them.
template <typename Operand>
__device__ inline CopiedVector<Operand> FindCopiedVector(uint32_t number, uint32_t of_first,
                                                         const Operand& first,
                                                         const Operand& second) {
  const bool is_first = number < of_first;
  const Operand& operand = is_first ? first : second;
  const uint32_t vector = is_first ? number : number - of_first;
  const uint32_t line = vector / operand.chunks;
  const uint32_t matrix = operand.count == 1 ? 0 : line / operand.rows;
  return {operand, line, vector - line * operand.chunks, matrix, line - matrix * operand.rows};
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_COPIED_VECTOR_H_
