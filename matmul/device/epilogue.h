// What happens to an accumulator on its way to C: C = alpha * accumulator + beta * C, converted to
// the element type of C. The only place where alpha and beta are applied.

#ifndef STRIDEWISE_MATMUL_DEVICE_EPILOGUE_H_
#define STRIDEWISE_MATMUL_DEVICE_EPILOGUE_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "matmul/device/gemm_types.h"

namespace stridewise {

// Returns x * y + z, rounded once.
template <typename T>
__device__ inline T MultiplyAddOnce(T x, T y, T z) {
  if constexpr (std::is_integral_v<T>) {
    return x * y + z;
  } else {
    return fma(x, y, z);
  }
}

template <typename Types>
struct Epilogue {
  using C = typename Types::C;
  using Accumulator = typename Types::Accumulator;

  Accumulator alpha;
  Accumulator beta;

  // Returns whether the old value of C counts. Where beta is 0 it is not read, so that not even a
  // NaN there matters.
  __device__ bool ReadsC() const { return beta != 0; }

  // Returns the new value of the element at `c`, which is read where `reads_c`.
  __device__ C Apply(Accumulator accumulator, const C* c, bool reads_c) const {
    const Accumulator product = alpha * accumulator;
    return static_cast<C>(reads_c ? MultiplyAddOnce(beta, static_cast<Accumulator>(*c), product)
                                  : product);
  }

  // Stores the new value of the element at `c[offset]`. As Apply(), in the order of operations that
  // nvcc makes the best code of where a thread has few elements.
  __device__ void Store(Accumulator accumulator, C* c, int64_t offset = 0) const {
    const Accumulator product = alpha * accumulator;
    c[offset] = static_cast<C>(
        beta == 0 ? product : MultiplyAddOnce(beta, static_cast<Accumulator>(c[offset]), product));
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_EPILOGUE_H_
