// What is applied to an element of C behind the bias.

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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_
