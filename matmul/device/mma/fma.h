// Multiply-adds of one thread on CUDA cores: D += A * B for an outer product of registers.
//
// All headers of this folder have the same interface, whoever multiplies: a thread here, a warp in
// wmma.h and mma_sm80.h, a warpgroup in wgmma_sm90.h. A struct says
//
//   kM, kN, kK                           the extents that Multiply() multiplies at once
//   FragmentA, FragmentB, Accumulator    what a thread holds, or passes, of each of the three
//   Multiply(a, b, d)                    D += A * B
//
// wgmma's Multiply() has an argument more, since it may also set D, and runs on behind the call.

#ifndef STRIDEWISE_MATMUL_DEVICE_MMA_FMA_H_
#define STRIDEWISE_MATMUL_DEVICE_MMA_FMA_H_

#include <cuda_runtime.h>

namespace stridewise {

// Rows are multiplied in turn, each in the opposite direction of the one before: the element of B
// with which a row ends is the first of the next one, and stays in the operand collector.
template <typename T, int kRows, int kCols>
struct ThreadFma {
  static constexpr int kM = kRows;
  static constexpr int kN = kCols;
  static constexpr int kK = 1;
  using FragmentA = T[kRows];
  using FragmentB = T[kCols];
  using Accumulator = T[kRows][kCols];

  __device__ static void Multiply(const FragmentA& a, const FragmentB& b, Accumulator& d) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int k = 0; k < kCols; ++k) {
        const int j = i % 2 == 0 ? k : kCols - 1 - k;
        d[i][j] = fma(a[i], b[j], d[i][j]);
      }
    }
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MMA_FMA_H_
