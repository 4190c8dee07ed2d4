// Chooses how a product is computed on one core, from its shape and layout.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_
#undef STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/dots-inl.h"
#include "matmul/cpu/few_rows-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// A block of B that is so small is not worth a copy, 128 x 128 floats, and twice as much where no
// vector of B lies in two cache lines.
inline constexpr int64_t kMaxBytesInPlace = 64 << 10;
inline constexpr int64_t kLineBytes = 64;

// Tells whether rows of B begin with a cache line.
template <typename T>
bool HasWholeLines(const Strided<T>& b) {
  return reinterpret_cast<uintptr_t>(b.data) % kLineBytes == 0 &&
         b.row_step * int64_t{sizeof(T)} % kLineBytes == 0;
}

// Copies few runs of k elements with gaps to runs without.
template <typename T>
const T* WithoutGaps(const T* from, int64_t run_step, int64_t step, int64_t runs, int64_t k) {
  T* to = PackBuffers<T>::OfThread().few.AtLeast(runs * k);
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t p = 0; p < k; ++p) to[run * k + p] = from[run * run_step + p * step];
  }
  return to;
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product);

// Computes few columns of C from a transposed A as few rows of C's transpose.
template <typename T>
void MultiplyTransposed(const HostProduct<T>& product) {
  std::vector<T> c(static_cast<size_t>(product.m * product.n));
  HostProduct<T> transposed;
  transposed.m = product.n;
  transposed.n = product.m;
  transposed.k = product.k;
  transposed.a = {product.b.data, product.b.col_step, product.b.row_step};
  transposed.b = {product.a.data, product.a.col_step, product.a.row_step};
  transposed.c = c.data();
  transposed.ldc = product.m;
  transposed.alpha = product.alpha;
  MultiplyAny(transposed);
  for (int64_t row = 0; row < product.m; ++row) {
    for (int64_t col = 0; col < product.n; ++col) {
      T& to = product.c[row * product.ldc + col];
      const T value = c[static_cast<size_t>(col * product.m + row)];
      to = product.beta == 0 ? value : value + product.beta * to;
    }
  }
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product) {
  constexpr int64_t kBytes = sizeof(T);
  constexpr int64_t kTileCols = Multiply<T>::kTileCols;
  static const CacheBlocks most = ChooseCacheBlocks(HostCacheSizes(), kBytes, kTileRows, kTileCols);
  const int64_t m = product.m;
  const int64_t n = product.n;
  const int64_t k = product.k;
  Multiply<T> multiply(product);
  const bool rows_of_b = product.b.col_step == 1;
  if (rows_of_b && n > kMaxDots) {
    // Packing repays itself once operands leave the L2 cache, or lie in few of its sets.
    const int64_t max_bytes = HasWholeLines(product.b) ? 2 * kMaxBytesInPlace : kMaxBytesInPlace;
    if (n * k * kBytes <= max_bytes && m * k * kBytes <= HostCacheSizes().l2 / 2 &&
        product.b.row_step * kBytes % 4096 != 0) {
      return multiply.InPlace(most.k);
    }
    if (n <= kTileCols) return multiply.InPlace(most.k);
    if (m <= kMaxFewRows && n * kBytes >= 2 * kRowSumBytes) return MultiplyFewRows(product);
    if (m <= MaxRows(2) && n * k * kBytes <= HostCacheSizes().l2) return multiply.InPlace(k);
  }
  if (n <= kMaxDots && n < m) {
    if (product.a.col_step != 1) return MultiplyTransposed(product);
    HostProduct<T> dots = product;
    if (product.b.row_step != 1) {
      dots.b = {WithoutGaps(product.b.data, 1, product.b.row_step, n, k), 1, k};
    }
    return MultiplyByDots(dots);
  }
  if (m <= kMaxDots && !rows_of_b) {
    HostProduct<T> dots = product;
    if (product.a.col_step != 1) {
      dots.a = {WithoutGaps(product.a.data, product.a.row_step, product.a.col_step, m, k), k, 1};
    }
    return MultiplyByDots(dots);
  }
  CacheBlocks blocks;
  blocks.k = EqualParts(k, most.k, 8);
  blocks.n = EqualParts(n, most.n, kTileCols);
  blocks.m = EqualParts(m, most.m, kTileRows);
  // Rows of A are read where they lie: a panel of a few rows stays in the L1 cache in any case, but
  // for more rows than a set has lines, a multiple of 4 KiB apart. Columns of A are read where they
  // lie while they stay in the L2 cache beside the block of B: each is in another page.
  const bool shares_sets = std::max(product.a.row_step, product.a.col_step) * kBytes % 4096 == 0;
  const bool has_rows = product.a.col_step == 1;
  const bool gains = has_rows ? shares_sets && kTileRows > 8
                              : shares_sets || m * k * kBytes > HostCacheSizes().l2 / 4;
  const bool packs_a = n > 4 * kTileCols && m > kTileRows && gains;
  multiply.Packed(packs_a, /*packs_b=*/true, blocks);
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_
