// Matrix-vector products with operands of 16 bits, of any alignment: y * X for a vector y. Each
// element of X is multiplied once, so that tensor cores have nothing to share.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/vector_plan.h"

namespace stridewise {

// The argument; the fields that a thread reads first come first. The lines of X are `ld` apart:
// those of k, or of columns where X is K-major.
struct TensorVector {
  const uint16_t* x;
  const uint16_t* y;
  int64_t ld;
  int64_t y_step;  // Between the elements of y.
  int64_t cols;    // Of X: the elements of the result.
  int k;
  int k_of_part;  // Of a block: its cluster's divide k.
  int parts;
  int out_bytes;  // Of an element of C: 4, or 2 for the type of the operands.
  int64_t c_step;
  int64_t x_stride, y_stride;  // From a product of the batch to the next.
  TensorOutput c;              // `transposed`: the result is a row of C.
};

__device__ inline float ToFloat(uint16_t bits, __nv_bfloat16) {
  return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}
__device__ inline float ToFloat(uint16_t bits, __half) {
  return static_cast<float>(*reinterpret_cast<const __half*>(&bits));
}

// The eight elements of 16 bytes.
template <typename Element>
__device__ inline void ToFloats(const uint4& chunk, float (&to)[kVectorChunk]) {
  const uint32_t words[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
  for (int i = 0; i < kVectorChunk; ++i) {
    to[i] = ToFloat(static_cast<uint16_t>(words[i / 2] >> i % 2 * 16), Element());
  }
}

// Stores the result of column `col`.
template <typename Element>
__device__ inline void StoreVectorSum(const TensorVector& product, int64_t col, float sum) {
  const TensorOutput& c = product.c;
  const int64_t index = int64_t{blockIdx.y} * c.stride + col * product.c_step;
  const int64_t of_bias = c.transposed ? col : 0;
  if (product.out_bytes == 4) {
    auto* const data = static_cast<float*>(c.data);
    data[index] = c.Finish(sum, c.beta != 0 ? data[index] : 0.0f,
                           c.bias != nullptr ? static_cast<const float*>(c.bias)[of_bias] : 0.0f);
  } else {
    auto* const data = static_cast<Element*>(c.data);
    const float old = c.beta != 0 ? static_cast<float>(data[index]) : 0.0f;
    const float bias =
        c.bias != nullptr ? static_cast<float>(static_cast<const Element*>(c.bias)[of_bias]) : 0.0f;
    data[index] = static_cast<Element>(c.Finish(sum, old, bias));
  }
}

// Adds the `sums` of all blocks of the cluster, of which there are `count` in shared memory, one
// for each of the first threads, and stores the results from column `first` on.
template <typename Element>
__device__ inline void StoreVectorSums(const TensorVector& product, int64_t first, int count,
                                       float* sums) {
  const auto thread = static_cast<int>(threadIdx.x);
  const bool stores = thread < count && first + thread < product.cols &&
                      static_cast<int>(blockIdx.x) % product.parts == 0;
  float sum = 0;
  __syncwarp();
  if (product.parts > 1) {
    SyncCluster();
    if (stores) {
#pragma unroll 4
      for (int part = 0; part < product.parts; ++part) sum += LoadFromBlock(sums + thread, part);
    }
    __syncwarp();
    SyncCluster();  // No block ends while another one reads its sums.
  } else {
    __syncthreads();
    if (stores) sum = sums[thread];
  }
  if (stores) StoreVectorSum<Element>(product, first + thread, sum);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_H_
