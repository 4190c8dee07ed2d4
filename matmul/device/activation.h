// What is applied to an element of C behind the bias, in two ways.
//
// A pass over C waits for memory, so that GELU's tanhf() with its thirty instructions costs nothing
// there, and GELU is as exact as FP32. In the epilogue of a kernel, where a thread has up to 128
// sums and nothing to wait for, GELU takes two instructions of the special functions' unit instead.

#ifndef STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_
#define STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_

#include <cuda_runtime.h>

#include "matmul/operands.h"

namespace stridewise {

// Returns the activation of x. A NaN stays one.
__device__ inline float Activate(Activation activation, float x) {
  constexpr float kRoot2OverPi = 0.79788456f;
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return 0.5f * x * (1 + tanhf(kRoot2OverPi * (x + 0.044715f * x * x * x)));
  }
  return x;
}

// Does the same for an epilogue, with GELU as x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))).
__device__ inline float FastActivate(Activation activation, float x) {
  if (activation == Activation::kRelu) return x < 0 ? 0 : x;
  if (activation != Activation::kGelu) return x;
  return __fdividef(x, 1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x)));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_
