// Copies operands whose rows do not begin at multiples of 16 bytes to where they do, for the TMA.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_

#include <cstdint>

#include "matmul/device/tensor/chunk.h"

namespace stridewise {

// Matrices of a batch as they are stored, and the copy, whose rows have `chunks` vectors and follow
// each other.
struct PackedOperand {
  const uint16_t* from;
  uint32_t rows, cols, count;
  uint32_t chunks;
  int64_t ld, stride;
  uint4* to;

  __host__ __device__ int64_t vectors() const { return int64_t{count} * rows * chunks; }
};

constexpr int kPackThreads = 256;

// Copies two operands, either of which may have no vectors. REQUIRES: together they have fewer than
// 2^31, so that divisions need no 64 bits, which would take longer than the copy.
inline __global__ void __launch_bounds__(kPackThreads)
    PackOperands(const __grid_constant__ PackedOperand first,
                 const __grid_constant__ PackedOperand second) {
  const auto of_first = static_cast<uint32_t>(first.vectors());
  const uint32_t all = of_first + static_cast<uint32_t>(second.vectors());
  for (uint32_t i = blockIdx.x * kPackThreads + threadIdx.x; i < all;
       i += gridDim.x * kPackThreads) {
    const bool is_first = i < of_first;
    const PackedOperand& operand = is_first ? first : second;
    const uint32_t vector = is_first ? i : i - of_first;
    const uint32_t line = vector / operand.chunks;
    const int64_t col = static_cast<int64_t>(vector - line * operand.chunks) * kChunk;
    const uint32_t matrix = operand.count == 1 ? 0 : line / operand.rows;
    const uint16_t* const from = operand.from + int64_t{matrix} * operand.stride;
    const auto end = reinterpret_cast<uintptr_t>(from + int64_t{operand.rows - 1} * operand.ld +
                                                 operand.cols);
    const int64_t row = line - matrix * operand.rows;
    const uint16_t* const first_element = from + row * operand.ld + col;
    Chunk chunk;
    chunk.Load(first_element, int64_t{operand.cols} - col, end);
    chunk.LoadTail(first_element);
    operand.to[vector] = chunk.Elements();
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_
