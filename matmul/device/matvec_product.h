// A matrix-vector product as the kernels of library/matvec.cu take it, and how they end.

#ifndef STRIDEWISE_MATMUL_DEVICE_MATVEC_PRODUCT_H_
#define STRIDEWISE_MATMUL_DEVICE_MATVEC_PRODUCT_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// The kernels' argument; the fields that a thread reads first come first.
struct MatVecProduct {
  const float* x;
  const float* y;
  int64_t x_ld;
  int64_t y_stride;  // Between the elements of y.
  int64_t cols;      // Of X: the elements of the result.
  int k;
  int k_of_part;   // The k of a block.
  int k_of_slice;  // K-major: the k of a warp.
  uint32_t parts;
  uint32_t slices;  // K-major: the warps that have the same columns.
  float* c;
  int64_t c_stride;
  Epilogue<Float32> epilogue;
  int64_t batch, x_batch_stride, y_batch_stride, c_batch_stride;
};

constexpr int kMatVecCols = 32;  // Of a block's result.

// Adds the `sums` of all blocks of the cluster, of which there are `cols` in shared memory, and
// stores the results from `first_col` on. All threads call it after a barrier.
__device__ inline void StoreMatVecSums(const MatVecProduct& product, int64_t index,
                                       int64_t first_col, int cols, float sum, float* sums) {
  const auto thread = static_cast<int>(threadIdx.x);
  float* const c = product.c + index * product.c_batch_stride;
  if (product.parts > 1) {
    if (thread < cols) sums[thread] = sum;
    SyncCluster();
    if (blockIdx.x % product.parts == 0 && thread < cols) {
      sum = 0;
#pragma unroll 4
      for (int part = 0; part < static_cast<int>(product.parts); ++part) {
        sum += LoadFromBlock(sums + thread, part);
      }
    }
    SyncCluster();  // No block ends while another one reads its sums.
    if (blockIdx.x % product.parts != 0) return;
  }
  if (thread < cols && first_col + thread < product.cols) {
    product.epilogue.Store(sum, c, (first_col + thread) * product.c_stride);
  }
}

// Loads kWidth neighbours.
template <int kWidth>
__device__ inline void LoadMatVecWide(const float* from, float (&to)[kWidth]) {
  if constexpr (kWidth == kVector) {
    LoadFour(from, to);
  } else {
    to[0] = *from;
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MATVEC_PRODUCT_H_
