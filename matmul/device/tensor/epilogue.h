// What happens to a sum of tensor cores on its way to C: C = f(alpha * sum + beta * C + bias),
// rounded to the type of C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_EPILOGUE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_EPILOGUE_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/activation.h"
#include "matmul/operands.h"

namespace stridewise {

// C, or a batch of them, and what is done to sums.
struct TensorOutput {
  int64_t rows, cols;
  void* data;
  int64_t ld;
  int64_t stride;   // Elements from a matrix of the batch to the next.
  bool vectors;     // Every fourth element of a row lies at a multiple of four elements.
  bool transposed;  // Tiles are those of C transposed.
  float alpha, beta;
  const void* bias;  // Of the type of C, one for each column; null: none.
  Activation activation;
  bool only_alpha;  // There is no bias and no activation, and beta is 0.

  // Returns what to store for a sum, with the old value of the element and the column's bias.
  __device__ float Finish(float sum, float old, float of_bias) const {
    float value = alpha * sum;
    if (beta != 0) value = fmaf(beta, old, value);
    return FastActivate(activation, value + of_bias);
  }
};

template <typename Out>
__device__ inline void StoreVector4(const float (&four)[4], Out* to) {
  Out values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = static_cast<Out>(four[i]);
  if constexpr (sizeof(Out) == 2) {
    *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(values);
  } else {
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(values);
  }
}

// Stores four neighbours of a row of C, apart from those that lie outside.
template <typename Out>
__device__ inline void StoreFour(const TensorOutput& c, const float (&four)[4], int64_t row,
                                 int64_t col, int64_t batch) {
  if (row >= c.rows || col >= c.cols) return;
  Out* const at = static_cast<Out*>(c.data) + batch * c.stride + row * c.ld + col;
  if (c.only_alpha && c.vectors && col + 4 <= c.cols) {
    const float scaled[4] = {c.alpha * four[0], c.alpha * four[1], c.alpha * four[2],
                             c.alpha * four[3]};
    StoreVector4(scaled, at);
    return;
  }
  const Out* const bias = static_cast<const Out*>(c.bias);
#pragma unroll 1
  for (int i = 0; i < 4 && col + i < c.cols; ++i) {
    const float sum = i < 2 ? (i == 0 ? four[0] : four[1]) : (i == 2 ? four[2] : four[3]);
    at[i] = static_cast<Out>(c.Finish(sum, c.beta != 0 ? static_cast<float>(at[i]) : 0.0f,
                                      bias != nullptr ? static_cast<float>(bias[col + i]) : 0));
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_EPILOGUE_H_
