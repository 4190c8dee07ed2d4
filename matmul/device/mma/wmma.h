// The warp matrix operation of CUDA C++, `wmma`: D += A * B for 16 x 16 elements of D and 16 of k,
// with sums in FP32. Which lane holds which element is not said. fma.h has the interface.

#ifndef STRIDEWISE_MATMUL_DEVICE_MMA_WMMA_H_
#define STRIDEWISE_MATMUL_DEVICE_MMA_WMMA_H_

#include <mma.h>

namespace stridewise {

// Of operands that are row-major in shared memory.
template <typename Element>
struct WarpWmma {
  static constexpr int kM = 16;
  static constexpr int kN = 16;
  static constexpr int kK = 16;
#if __CUDA_ARCH__ >= 800
  using FragmentA =
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kM, kN, kK, Element, nvcuda::wmma::row_major>;
  using FragmentB =
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kM, kN, kK, Element, nvcuda::wmma::row_major>;
  using Accumulator = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kM, kN, kK, float>;

  __device__ static void Multiply(const FragmentA& a, const FragmentB& b, Accumulator& d) {
    nvcuda::wmma::mma_sync(d, a, b, d);
  }
#endif
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MMA_WMMA_H_
