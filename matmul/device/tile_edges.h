// Reads and writes of tiles that reach over the edges of a matrix, by element and by 16 bytes.
//
// What lies outside reads as 0, without a load, and is not stored. 0 * x adds nothing, unless x is
// Inf or NaN: tiles of A and B end at the same k, so that along k padding only meets padding, and
// rows and columns of padding give elements that lie outside C.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

__device__ inline float LoadOrZero(const ConstMatrix<float>& in, int64_t row, int64_t col) {
  return row < in.rows && col < in.cols ? in(row, col) : 0.0f;
}

__device__ inline void StoreInside(const Matrix<float>& out, int64_t row, int64_t col,
                                   float value) {
  if (row < out.rows && col < out.cols) out(row, col) = value;
}

// Floats of the widest access that there is.
inline constexpr int kVectorFloats = 4;

// Whether every row begins and ends at a multiple of 16 bytes: a vector that begins inside the
// matrix then lies inside it, and may be moved in one access.
STRIDEWISE_HOST_DEVICE inline bool IsMadeOfVectors(const ConstMatrix<float>& matrix) {
  return reinterpret_cast<uintptr_t>(matrix.data) % sizeof(float4) == 0 &&
         matrix.ld % kVectorFloats == 0 && matrix.cols % kVectorFloats == 0;
}

// Four neighbours, from or to a multiple of 16 bytes.
__device__ inline void LoadFour(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}
__device__ inline void StoreFour(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

// Four neighbours of a row, from a column that is a multiple of four. kVectors says that `in`
// IsMadeOfVectors(); others are read by element.
template <bool kVectors>
__device__ inline void LoadFourOrZero(const ConstMatrix<float>& in, int64_t row, int64_t col,
                                      float* to) {
#pragma unroll
  for (int i = 0; i < kVectorFloats; ++i) to[i] = 0;
  if constexpr (kVectors) {
    if (row < in.rows && col < in.cols) LoadFour(&in(row, col), to);
  } else {
#pragma unroll
    for (int i = 0; i < kVectorFloats; ++i) to[i] = LoadOrZero(in, row, col + i);
  }
}

// The same for stores, which are few: `out` is asked here whether it is made of vectors. Inlined
// everywhere, as what it stores is meant to stay in registers.
__device__ __forceinline__ void StoreFourInside(const Matrix<float>& out, int64_t row, int64_t col,
                                                const float* from) {
  if (IsMadeOfVectors(out)) {
    if (row < out.rows && col < out.cols) StoreFour(&out(row, col), from);
  } else {
#pragma unroll
    for (int i = 0; i < kVectorFloats; ++i) StoreInside(out, row, col + i, from[i]);
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_EDGES_H_
