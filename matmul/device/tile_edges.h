// Loads and stores of tiles that reach over the edges of a matrix, by element and by 16 bytes.
//
// An element outside the matrix reads as 0, without a load, and is not stored. The padding cannot
// spoil a result, although 0 * Inf is NaN: tiles of A and B end at the same k, so that along k
// padding only meets padding, and rows and columns of padding give elements that lie outside C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// Returns the element at (row, col), or 0 outside the matrix.
template <typename T>
__device__ inline T LoadOrZero(const ConstMatrix<T>& in, int64_t row, int64_t col) {
  return row < in.rows && col < in.cols ? in(row, col) : T(0);
}

// Stores the value where (row, col) lies inside the matrix.
template <typename T>
__device__ inline void StoreInside(const Matrix<T>& out, int64_t row, int64_t col, T value) {
  if (row < out.rows && col < out.cols) out(row, col) = value;
}

// Loads four neighbours of a row, from a column that is a multiple of four. kVectors says that `in`
// IsMadeOfVectors(); another matrix is read by element.
template <bool kVectors>
__device__ inline void LoadFourOrZero(const ConstMatrix<float>& in, int64_t row, int64_t col,
                                      float* to) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) to[i] = 0;
  if constexpr (kVectors) {
    if (row < in.rows && col < in.cols) LoadFour(&in(row, col), to);
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) to[i] = LoadOrZero(in, row, col + i);
  }
}

// Stores four neighbours of a row as far as they lie inside the matrix. Stores are few, so whether
// `out` is made of vectors is tested here. Inlined everywhere, so that the values stay in
// registers.
__device__ __forceinline__ void StoreFourInside(const Matrix<float>& out, int64_t row, int64_t col,
                                                const float* from) {
  if (IsMadeOfVectors<float>(out)) {
    if (row < out.rows && col < out.cols) StoreFour(&out(row, col), from);
  } else {
#pragma unroll
    for (int i = 0; i < kVector; ++i) StoreInside(out, row, col + i, from[i]);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_
