// Sums that become elements of C one by one, for kernels whose code is the same for both types of
// C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tensor/epilogue.h"

namespace stridewise {

// An element of C, or of a bias, which is a float or of the operands' type.
template <typename Element>
__device__ inline float LoadOutput(const void* from, int64_t index, int out_bytes) {
  return out_bytes == 4 ? static_cast<const float*>(from)[index]
                        : static_cast<float>(static_cast<const Element*>(from)[index]);
}

// Stores what a sum becomes as the element (row, col) of C, which is a float or of the operands'
// type.
template <typename Element>
__device__ inline void StoreFinished(const TensorOutput& c, int out_bytes, int64_t batch,
                                     int64_t row, int64_t col, float sum) {
  const int64_t index = batch * c.stride + row * c.ld + col;
  const float value =
      c.Finish(sum, c.beta != 0 ? LoadOutput<Element>(c.data, index, out_bytes) : 0.0f,
               c.bias != nullptr ? LoadOutput<Element>(c.bias, col, out_bytes) : 0.0f);
  if (out_bytes == 4) {
    static_cast<float*>(c.data)[index] = value;
  } else {
    static_cast<Element*>(c.data)[index] = static_cast<Element>(value);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_FINISHED_H_
