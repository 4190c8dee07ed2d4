// Accesses of 16 bytes, the widest that there is: four neighbouring floats in one instruction.

#ifndef STRIDEWISE_MATMUL_DEVICE_VECTOR_ACCESS_H_
#define STRIDEWISE_MATMUL_DEVICE_VECTOR_ACCESS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "common/base/matrix.h"

namespace stridewise {

inline constexpr int kWarpSize = 32;
inline constexpr int kVectorBytes = 16;
inline constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(float));

// Returns whether every row begins and ends at a multiple of 16 bytes. A vector that begins inside
// such a matrix lies inside it, and may be moved in one access.
template <typename T>
STRIDEWISE_HOST_DEVICE inline bool IsMadeOfVectors(const ConstMatrix<T>& matrix) {
  constexpr int kElements = kVectorBytes / static_cast<int>(sizeof(T));
  return reinterpret_cast<uintptr_t>(matrix.data) % kVectorBytes == 0 &&
         matrix.ld % kElements == 0 && matrix.cols % kElements == 0;
}

// Loads four neighbours from a multiple of 16 bytes.
__device__ inline void LoadFour(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

// Stores four neighbours to a multiple of 16 bytes.
__device__ inline void StoreFour(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_VECTOR_ACCESS_H_
