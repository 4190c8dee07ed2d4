// The arithmetic of Hopper's tensor cores, to the last bit.
//
// Products of floating-point operands are exact. An instruction adds all products of its k extent
// and the old accumulator in one step: each term is aligned to the largest exponent among them and
// cut off, toward zero, behind a number of fractional bits: 25, and 13 where wgmma multiplies FP8.
// The exponent of a product is the sum of its factors' exponents, also where its significand is 2
// or more. The sum of what is left is exact, and is cut off toward zero to the accumulator's
// significand; sums in FP16 are rounded to the nearest. mma.sync of FP8 is no instruction of
// Hopper: ptxas makes two of FP16 of it, from zero, and an addition in FP32. (Measured by others:
// "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909; and
// here: tensor_bits_test.) Integer sums wrap around.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_TENSOR_CORE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_TENSOR_CORE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

enum class TensorType { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8, kF32, kS32 };

// Returns the type that instructions name so, such as "bf16".
std::optional<TensorType> FindTensorType(absl::string_view name);

// Returns the bits of an element as it lies in memory; a TF32 element takes 32.
int TensorTypeBits(TensorType type);

// What an instruction multiplies: D = A * B + C with m x k, k x n and m x n elements.
struct TensorForm {
  int m = 0, n = 0, k = 0;
  TensorType a = TensorType::kF16;
  TensorType b = TensorType::kF16;
  TensorType sums = TensorType::kF32;  // kF16 and kS32 are the others.
  int fraction_bits = 25;
  int result_bits = 23;  // Fractional bits of a sum in FP32: 13 where wgmma multiplies FP8.
  // FP8 as two multiplications of FP16, the first of elements 0 and 1 of each four, to whose sum
  // the old one is added, rounded to the nearest: what ptxas makes of mma.sync.
  bool as_fp16 = false;
};

// Computes D. Each element is in the low bits of a word: a[row * k + i], b[col * k + i], and
// c[row * n + col] and d likewise, which may be the same. The last 13 bits of a TF32 element are
// not looked at. The NaN of a result is 0x7fffffff, that of an FP16 result 0x7fff.
void MultiplyTensors(const TensorForm& form, const uint32_t* a, const uint32_t* b,
                     const uint32_t* c, uint32_t* d);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_TENSOR_CORE_H_
