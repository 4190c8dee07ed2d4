// A product on the host, in the form that the SIMD code takes, and that code's entry point.

#ifndef STRIDEWISE_MATMUL_CPU_HOST_PRODUCT_H_
#define STRIDEWISE_MATMUL_CPU_HOST_PRODUCT_H_

#include <cstdint>
#include <type_traits>

#include "common/base/half_types.h"

namespace stridewise {

// A matrix of which either rows or columns lie without gaps: element (r, c) is
// data[r * row_step + c * col_step], and one of the two steps is 1.
template <typename T>
struct Strided {
  const T* data = nullptr;
  int64_t row_step = 1;
  int64_t col_step = 1;

  const T* At(int64_t row, int64_t col) const { return data + row * row_step + col * col_step; }
};

// Is the type of alpha, beta and sums of products of T.
template <typename T>
using ScaleOf = std::conditional_t<std::is_same_v<T, Bf16>, float, T>;

// C = alpha * A * B + beta * C. A is m x k, B is k x n; C is m x n and row-major.
template <typename T, typename Out = T>
struct HostProduct {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Strided<T> a;
  Strided<T> b;
  Out* c = nullptr;
  int64_t ldc = 0;
  ScaleOf<T> alpha = 1;
  ScaleOf<T> beta = 0;
};

// Extents of the blocks that are packed, in elements; cache_blocks.h computes them.
struct CacheBlocks {
  int64_t m = 0;      // Rows of A that stay in the L3 cache, k columns of each.
  int64_t n = 0;      // Columns of B that stay in the L2 cache.
  int64_t k = 0;      // Columns of a panel of A that stays in the L1 cache.
  int64_t panel = 8;  // Rows of such a panel that chunks of rows are multiples of.
};

// Computes the product on the calling thread with the best instructions of the processor. Allocates
// only what it packs, and keeps that for the thread's next product.
void MultiplyOnOneCore(const HostProduct<float>& product);
void MultiplyOnOneCore(const HostProduct<double>& product);
void MultiplyOnOneCore(const HostProduct<Bf16, float>& product);
void MultiplyOnOneCore(const HostProduct<Bf16>& product);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_HOST_PRODUCT_H_
