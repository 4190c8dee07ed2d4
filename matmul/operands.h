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

// How operands are multiplied and summed: those of float, but for the last two. Nothing but the
// caller ever makes a product less exact.
enum class MatMulPrecision {
  kFp32,  // IEEE FP32, one fused multiply-add for each product, on CUDA cores; of operands of other
          // types what matmul.h says of them.
  kFp32Split,  // Operands as sums of narrower numbers, on tensor cores: no more error than kFp32.
  kTf32,       // Operands rounded to TF32, 11 significant bits; sums in FP32, on tensor cores.
  // As kFp32Split, with the same bound of the error; as INT8 numbers where the device finds the
  // elements of each row of op(A) and each column of op(B) near enough in size to its largest.
  kFp32SplitInt8,
  // Between kTf32 and kFp32: operands as sums of narrower numbers that keep 16 significant bits, on
  // tensor cores; sums in FP32.
  kFp32Medium,
  kBf16,  // Operands rounded to BF16, 8 significant bits; sums in FP32, on tensor cores.
  kFp16,  // Operands rounded to FP16, 11 significant bits and 5 of exponent; sums in FP32.
  // Of operands of Fp16: sums may be rounded to FP16, each time that products are added to them.
  kFp16Sums,
  // Of operands of E4m3 and E5m2: sums may keep 13 fractional bits for all of k.
  kFastSums,
};

// Returns the name that flags and CSV rows use: "fp32", "fp32_split", "tf32", "fp32_split_int8",
// "fp32_medium", "bf16", "fp16", "fp16_sums", "fast_sums".
const char* PrecisionName(MatMulPrecision precision);

// What is applied to each element of C behind the bias.
enum class Activation {
  kNone,
  kRelu,     // max(x, 0); a NaN stays one.
  kGelu,     // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), the approximation.
  kGeluErf,  // x / 2 * (1 + erf(x / sqrt(2))), GELU itself.
};

// What happens to alpha * op(A) * op(B) + beta * C before it is rounded to the type of C.
struct MatMulEpilogue {
  // Null, or elements of the type of C that are added to each row of C, n of them; where matrices
  // are column-major to each column, m of them. The same for all products of a batch.
  const void* bias = nullptr;
  Activation activation = Activation::kNone;
};

inline bool operator==(const MatMulEpilogue& x, const MatMulEpilogue& y) {
  return x.bias == y.bias && x.activation == y.activation;
}

// Factors that 8-bit floating-point operands are multiplied with, in device memory; a null pointer
// is factors of 1. Per tensor: one float each. Per 128: of A one for each row and each 128 of k,
// m x ceil(k / 128), and of B one for each block of 128 x 128, ceil(k / 128) x ceil(n / 128), both
// row-major without gaps.
struct MatMulScales {
  const float* a = nullptr;
  const float* b = nullptr;
  bool per_128 = false;
};

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
