// The element types that a kernel is compiled for.

#ifndef STRIDEWISE_MATMUL_DEVICE_GEMM_TYPES_H_
#define STRIDEWISE_MATMUL_DEVICE_GEMM_TYPES_H_

namespace stridewise {

// The element types of a product: those of A, B and C in memory, and that of the accumulators.
template <typename ElementA, typename ElementB, typename ElementC, typename ElementAccumulator>
struct GemmTypes {
  using A = ElementA;
  using B = ElementB;
  using C = ElementC;
  using Accumulator = ElementAccumulator;
};
using Float32 = GemmTypes<float, float, float, float>;

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_GEMM_TYPES_H_
