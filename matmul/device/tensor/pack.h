// Copies operands whose rows do not begin at multiples of 16 bytes to where they do, for the TMA.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/copied_vector.h"
#include "matmul/device/tensor/chunk.h"

namespace stridewise {

// Returns how many vectors rows of a copy are apart: a multiple of 128 bytes, a line of the L2,
// where that makes them a quarter longer at most. The TMA takes rows at multiples of 16 bytes, but
// of 128 bytes that lie in two lines it loads both: 2000 x 2008 x 2000 took 46 us on an H200 in
// tiles of 128 x 128, and 30 with such rows. Rows of 144 bytes are better read as they are.
inline uint32_t PackedPitch(uint32_t chunks) {
  constexpr uint32_t kLine = 8;
  const uint32_t lines = (chunks + kLine - 1) / kLine * kLine;
  return 4 * uint64_t{lines} <= 5 * uint64_t{chunks} ? lines : chunks;
}

// Matrices of a batch as they are stored, and the copy, whose rows have `chunks` vectors and are
// `pitch` vectors apart. What lies between rows is not written.
struct PackedOperand {
  const uint16_t* from;
  uint32_t rows, cols, count;
  uint32_t chunks, pitch;
  int64_t ld, stride;
  uint4* to;

  // Returns the vectors that are written.
  __host__ __device__ int64_t vectors() const { return int64_t{count} * rows * chunks; }
};

constexpr int kPackThreads = 256;
constexpr int kPackTogether = 4;  // Vectors of a thread that are under way together.

// Copies two operands, either of which may have no vectors. REQUIRES: together they have fewer than
// 2^31, so that divisions need no 64 bits, which would take longer than the copy.
inline __global__ void __launch_bounds__(kPackThreads)
    PackOperands(const __grid_constant__ PackedOperand first,
                 const __grid_constant__ PackedOperand second) {
  LetNextKernelBegin();
  const auto of_first = static_cast<uint32_t>(first.vectors());
  const uint32_t all = of_first + static_cast<uint32_t>(second.vectors());
  const uint32_t threads = gridDim.x * kPackThreads;
  for (uint32_t i = blockIdx.x * kPackThreads + threadIdx.x; i < all;
       i += threads * kPackTogether) {
    Chunk chunks[kPackTogether];
    const uint16_t* from[kPackTogether];
    uint4* to[kPackTogether];
#pragma unroll
    for (int j = 0; j < kPackTogether; ++j) {
      const uint32_t number = i + j * threads;
      const auto at = FindCopiedVector(number, of_first, first, second);
      const PackedOperand& operand = at.operand;
      const int64_t col = int64_t{at.chunk} * kChunk;
      const uint16_t* const data = operand.from + int64_t{at.matrix} * operand.stride;
      const auto end =
          reinterpret_cast<uintptr_t>(data + int64_t{operand.rows - 1} * operand.ld + operand.cols);
      from[j] = data + int64_t{at.row} * operand.ld + col;
      to[j] = operand.to + int64_t{at.line} * operand.pitch + at.chunk;
      chunks[j].Load(from[j], number < all ? int64_t{operand.cols} - col : 0, end);
    }
#pragma unroll
    for (int j = 0; j < kPackTogether; ++j) {
      if (i + j * threads >= all) break;
      chunks[j].LoadTail(from[j]);
      *to[j] = chunks[j].Elements();
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PACK_H_
