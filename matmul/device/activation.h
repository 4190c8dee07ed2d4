// What is applied to an element of C behind the bias, in two ways.
//
// A pass over C waits for memory, so that GELU's tanhf() or erfcf() with their thirty instructions
// cost nothing there, and GELU is as exact as FP32. In the epilogue of a kernel, where a thread has
// up to 128 sums and nothing to wait for, GELU takes two instructions of the special functions'
// unit instead, and GELU by erf eight more for a polynomial.

#ifndef STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_
#define STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_

#include <cuda_runtime.h>

#include "matmul/operands.h"

namespace stridewise {

// Returns the activation of x. A NaN stays one.
__device__ inline float Activate(Activation activation, float x) {
  constexpr float kRoot2OverPi = 0.79788456f;
  constexpr float kRootOfHalf = 0.70710678f;
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return 0.5f * x * (1 + tanhf(kRoot2OverPi * (x + 0.044715f * x * x * x)));
    case Activation::kGeluErf:
      return 0.5f * x * erfcf(-kRootOfHalf * x);
  }
  return x;
}

// Returns x times the normal distribution's part below x. The part beyond |x| is a polynomial of
// t = 1 / (1 + 0.3275911 |x| / sqrt(2)) times exp(-x^2 / 2), by Abramowitz and Stegun's 7.1.26,
// whose error of erf is 1.5e-7.
__device__ inline float FastGeluErf(float x) {
  const float z = 0.70710678f * fabsf(x);
  const float t = __fdividef(1, fmaf(0.3275911f, z, 1));
  float tail = fmaf(0.5307027145f, t, -0.7265760135f);
  tail = fmaf(tail, t, 0.7107068705f);
  tail = fmaf(tail, t, -0.142248368f);
  tail = fmaf(tail, t, 0.127414796f);
  tail *= t * __expf(-z * z);
  return x * (x < 0 ? tail : 1 - tail);
}

// Does the same for an epilogue, with GELU as x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))).
__device__ inline float FastActivate(Activation activation, float x) {
  if (activation == Activation::kRelu) return x < 0 ? 0 : x;
  if (activation == Activation::kGeluErf) return FastGeluErf(x);
  if (activation != Activation::kGelu) return x;
  return __fdividef(x, 1 + __expf(-1.5957691216f * (x + 0.044715f * x * x * x)));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_ACTIVATION_H_
