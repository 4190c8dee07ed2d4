// The operands of a matrix multiplication: where each matrix lies, how it is stored, and of which
// element type it is.

#ifndef STRIDEWISE_MATMUL_OPERANDS_H_
#define STRIDEWISE_MATMUL_OPERANDS_H_

#include <cstdint>

#include "common/base/element_type.h"

namespace stridewise {

// A or B, or a batch of them.
struct MatMulInput {
  const void* data = nullptr;
  int64_t ld = 0;           // Leading dimension: elements from the start of a row to the next.
  bool transposed = false;  // op(A) is the transpose of what is stored.
  int64_t stride = 0;       // Elements from a matrix of a batch to the next; 0: all use the same.
  ElementType type = ElementType::kFloat;

  MatMulInput() = default;
  // Takes the element type from the pointer.
  template <typename T>
  MatMulInput(const T* matrix, int64_t leading_dimension)
      : data(matrix), ld(leading_dimension), type(kElementTypeOf<T>) {}
  MatMulInput(const void* matrix, int64_t leading_dimension, ElementType element_type)
      : data(matrix), ld(leading_dimension), type(element_type) {}
};

// C, or a batch of them.
struct MatMulOutput {
  void* data = nullptr;
  int64_t ld = 0;
  int64_t stride = 0;
  ElementType type = ElementType::kFloat;

  MatMulOutput() = default;
  // Takes the element type from the pointer.
  template <typename T>
  MatMulOutput(T* matrix, int64_t leading_dimension)
      : data(matrix), ld(leading_dimension), type(kElementTypeOf<T>) {}
  MatMulOutput(void* matrix, int64_t leading_dimension, ElementType element_type)
      : data(matrix), ld(leading_dimension), type(element_type) {}
};

// Returns the operand whose first element is `elements` after that of `operand`. A null pointer,
// which is one to no elements, stays null.
template <typename Operand>
Operand Advanced(Operand operand, int64_t elements) {
  // Through an integer, which has no constness to lose.
  if (operand.data != nullptr) {
    operand.data = reinterpret_cast<decltype(operand.data)>(  // NOLINT(performance-no-int-to-ptr)
        reinterpret_cast<uintptr_t>(operand.data) +
        static_cast<uintptr_t>(elements * ElementBytes(operand.type)));
  }
  return operand;
}

// The element types of a multiplication: of A, B and C, and of the sums of products.
struct MatMulTypes {
  ElementType a, b, c, accumulator;
};

inline bool operator==(const MatMulTypes& x, const MatMulTypes& y) {
  return x.a == y.a && x.b == y.b && x.c == y.c && x.accumulator == y.accumulator;
}

// Makes the types of a multiplication in which everything is of one type.
constexpr MatMulTypes AllOf(ElementType type) { return {type, type, type, type}; }

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_OPERANDS_H_
