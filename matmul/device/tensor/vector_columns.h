// y * X where the lines of X are those of k: lanes have columns of their own.
//
// Lines that are a multiple of eight apart begin equally far behind a multiple of 16 bytes, so that
// a thread, whose k are a multiple of eight apart, has the same columns in each of its loads of 16
// bytes: those of its lane, moved by less than eight. The groups' sums find each other in shared
// memory.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_COLUMNS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_COLUMNS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/tensor/vector.h"

namespace stridewise {

// A group of kVectorLanes lanes has a k at a time, and kVectorCols columns.
constexpr int kVectorGroups = kVectorThreads / kVectorLanes;
constexpr int kVectorAtOnce = 4;  // Loads of a thread.

// A cluster in x for each kVectorCols columns, and products of the batch in y.
template <typename Element>
__global__ void __launch_bounds__(kVectorThreads, 4)
    TensorVectorColumns(const __grid_constant__ TensorVector product) {
  static_assert(kVectorGroups % kVectorChunk == 0, "the k of a thread begin equally far");
  __shared__ float group_sums[kVectorGroups][kVectorCols];
  __shared__ float sums[kVectorCols];
  const auto lane = static_cast<int>(threadIdx.x) % kVectorLanes;
  const auto group = static_cast<int>(threadIdx.x) / kVectorLanes;
  const int part = static_cast<int>(blockIdx.x) % product.parts;
  const int64_t first_col = int64_t{blockIdx.x} / product.parts * kVectorCols;
  const int first_k = part * product.k_of_part;
  const int left = min(product.k_of_part, product.k - first_k);
  const uint16_t* const matrix = product.x + blockIdx.y * product.x_stride;
  const uint16_t* const y =
      product.y + blockIdx.y * product.y_stride + (first_k + group) * product.y_step;
  const uint16_t* x = matrix + (first_k + group) * product.ld + first_col;
  const auto shift =
      static_cast<int>(reinterpret_cast<uintptr_t>(x) / sizeof(uint16_t) % kVectorChunk);
  // The vector's first column, counted from the block's, and what of it lies in X.
  int col = lane * kVectorChunk - shift;
  const int cols_left = static_cast<int>(min(product.cols - first_col, int64_t{kVectorCols}));
  if (col >= cols_left) col = -shift;  // Not stored.
  x += col;
  int lines = left > group ? (left - group + kVectorGroups - 1) / kVectorGroups : 0;
  // Vectors at the end may go on behind X. Their elements are added one by one.
  const int64_t line_step = kVectorGroups * product.ld;
  const uint16_t* const end = matrix + (product.k - 1) * product.ld + product.cols;
  int outside = 0;
  while (outside < lines && x + (lines - 1 - outside) * line_step + kVectorChunk > end) ++outside;
  lines -= outside;

  float acc[kVectorChunk] = {};
#pragma unroll 1
  for (int line = 0; line < lines; line += kVectorAtOnce) {
    // No load has a condition: beyond the last line that one is loaded again, and not added.
    uint4 chunks[kVectorAtOnce];
    uint16_t factors[kVectorAtOnce];
#pragma unroll
    for (int i = 0; i < kVectorAtOnce; ++i) {
      const int existing = min(line + i, lines - 1);
      chunks[i] = __ldg(reinterpret_cast<const uint4*>(x + existing * line_step));
      factors[i] = __ldg(y + existing * kVectorGroups * product.y_step);
    }
#pragma unroll
    for (int i = 0; i < kVectorAtOnce; ++i) {
      if (line + i >= lines) break;
      float values[kVectorChunk];
      ToFloats<Element>(chunks[i], values);
      const float factor = ToFloat(factors[i], Element());
#pragma unroll
      for (int e = 0; e < kVectorChunk; ++e) acc[e] = fmaf(values[e], factor, acc[e]);
    }
  }
#pragma unroll 1
  for (; outside > 0; --outside, ++lines) {
    const float factor = ToFloat(y[lines * kVectorGroups * product.y_step], Element());
#pragma unroll
    for (int e = 0; e < kVectorChunk; ++e) {
      if (col + e >= 0 && col + e < cols_left) {
        acc[e] = fmaf(ToFloat(x[lines * line_step + e], Element()), factor, acc[e]);
      }
    }
  }
  col = lane * kVectorChunk - shift;
#pragma unroll
  for (int e = 0; e < kVectorChunk; ++e) {
    if (col + e >= 0 && col + e < kVectorCols) group_sums[group][col + e] = acc[e];
  }
  __syncthreads();
  if (threadIdx.x < kVectorCols) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < kVectorGroups; ++i) sum += group_sums[i][threadIdx.x];
    sums[threadIdx.x] = sum;
  }
  StoreVectorSums<Element>(product, first_col, kVectorCols, sums);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_VECTOR_COLUMNS_H_
