// An operand of a product as kernels address it.
//
// A and B are treated alike. Both have an extent along k, and one along m (the rows of op(A)) or n
// (the columns of op(B)), which is called mn here.

#ifndef STRIDEWISE_MATMUL_DEVICE_OPERAND_H_
#define STRIDEWISE_MATMUL_DEVICE_OPERAND_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace stridewise {

// Which elements are neighbours in memory.
enum class OperandLayout {
  kKMajor,   // Those along k, as in A and in B transposed.
  kMnMajor,  // Those along m or n, as in B and in A transposed.
};

// The type in which tensor cores sum products of these elements.
template <typename Element>
using AccumulatorOf = std::conditional_t<std::is_same_v<Element, int8_t>, int, float>;

// Columns and elements of k that share a factor of B, where blocks of an FP8 operand have factors.
constexpr int kScaledBlock = 128;

// The factors of FP8 operands (operands.h), the same for all matrices of a batch.
struct TensorScales {
  const float* a = nullptr;
  const float* b = nullptr;
  int blocks_of_k = 0;  // 0: one factor each, or 1 where the pointer is null.
  int blocks_of_n = 0;
};

// Returns the factor of all products, where blocks have none of their own.
__device__ inline float ScaleOfAll(const TensorScales& scales) {
  if (scales.blocks_of_k > 0) return 1;
  return (scales.a == nullptr ? 1 : *scales.a) * (scales.b == nullptr ? 1 : *scales.b);
}

template <typename T>
struct Operand {
  const T* data;
  int64_t ld;    // At most kMaxTileLd for the kernels that copy with tile_copy.h.
  int64_t mn;    // The number of rows of op(A), or of columns of op(B).
  bool vectors;  // Every row, as stored, begins and ends at a multiple of 16 bytes.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_OPERAND_H_
