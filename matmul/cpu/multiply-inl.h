// The product on one core, in the form that forms-inl.h chooses.
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

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/dots-inl.h"
#include "matmul/cpu/few_rows-inl.h"
#include "matmul/cpu/forms-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/outer-inl.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/packed-inl.h"
#include "matmul/cpu/packing-inl.h"
#include "matmul/cpu/strips-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Copies few neighbouring runs of k elements, `step` apart, to runs without gaps.
template <typename T>
const T* WithoutGaps(const T* from, int64_t step, int64_t runs, int64_t k, PackBuffer<T>* buffer) {
  T* to = buffer->AtLeast(runs * k);
  PackTransposed(from, step, k, runs, to, k);
  return to;
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product);

// Computes few columns of C from a transposed A as few rows of C's transpose.
template <typename T>
void MultiplyTransposed(const HostProduct<T>& product) {
  T* const c = PackBuffers<T>::OfThread().sums.AtLeast(product.m * product.n);
  HostProduct<T> transposed;
  transposed.m = product.n;
  transposed.n = product.m;
  transposed.k = product.k;
  transposed.a = {product.b.data, product.b.col_step, product.b.row_step};
  transposed.b = {product.a.data, product.a.col_step, product.a.row_step};
  transposed.c = c;
  transposed.ldc = product.m;
  transposed.alpha = product.alpha;
  MultiplyAny(transposed);
  if (product.beta == 0) {
    return PackTransposed(c, product.m, product.n, product.m, product.c, product.ldc);
  }
  for (int64_t row = 0; row < product.m; ++row) {
    for (int64_t col = 0; col < product.n; ++col) {
      T& to = product.c[row * product.ldc + col];
      to = c[col * product.m + row] + product.beta * to;
    }
  }
}

// Computes the product by dot products, from copies of operands whose columns lie along k.
template <typename T>
void MultiplyDots(const HostProduct<T>& product) {
  HostProduct<T> dots = product;
  PackBuffer<T>& few = PackBuffers<T>::OfThread().few;
  if (product.a.col_step != 1) {
    dots.a = {WithoutGaps(product.a.data, product.a.col_step, product.m, product.k, &few),
              product.k, 1};
  } else if (product.b.row_step != 1) {
    dots.b = {WithoutGaps(product.b.data, product.b.row_step, product.n, product.k, &few), 1,
              product.k};
  }
  MultiplyByDots(dots);
}

template <typename T>
CacheBlocks MostOfBlocks() {
  static const CacheBlocks most = ChooseCacheBlocks(HostCacheSizes(), int64_t{sizeof(T)},
                                                    int64_t{kTileRows}, Multiply<T>::kTileCols);
  return most;
}

// Rows of a page or more, 4 KiB, each need a translation of their own. Those of 1024 rows of A
// and of C fit in the second translation buffer (2048 entries in a Xeon, 4096 in Zen 5), so that
// the next block of B finds them there.
inline constexpr int64_t kMaxRowsOfPages = 1024;

// A copy of rows of A takes as long as what it saves for this number of blocks of B
// (docs/cpu_matmul.md).
inline constexpr int64_t kMinUsesOfCopy = 10;

// Up to this depth a block of B has as many bytes as a deep one, and so more columns: such products
// take their time for C, of which longer pieces of rows are written. Where other cores had its
// lines, 16 cores write a C of 2029x2221 in strips of 48 columns in three times the time that whole
// rows take.
inline constexpr int64_t kMaxDepthOfWideBlocks = 128;

template <typename T>
CacheBlocks BlocksOf(const HostProduct<T>& product) {
  CacheBlocks most = MostOfBlocks<T>();
  if (product.k <= kMaxDepthOfWideBlocks) {
    constexpr int64_t kTileCols = Multiply<T>::kTileCols;
    most.n = most.n * most.k / std::max<int64_t>(product.k, 16) / kTileCols * kTileCols;
  }
  if (product.ldc * int64_t{sizeof(T)} >= kPageBytes) most.m = std::min(most.m, kMaxRowsOfPages);
  CacheBlocks blocks;
  blocks.k = EqualParts(product.k, most.k, 8);
  blocks.n = EqualParts(product.n, most.n, Multiply<T>::kTileCols);
  blocks.m = EqualParts(product.m, most.m, kTileRows);
  return blocks;
}

// Returns whether a copy of A repays itself. Rows are read where they lie: a panel of a few rows
// stays in the L1 cache in any case, but for more rows than a set has lines, a multiple of 4 KiB
// apart. Columns are read where they lie while they stay in the L2 cache beside the block of B:
// each is in another page. Those two pages and more apart repay it from 64 columns of C on, or
// where k is less deep from five tiles on.
template <typename T>
bool PacksA(const HostProduct<T>& product) {
  constexpr int64_t kBytes = sizeof(T);
  const Strided<T>& a = product.a;
  if (product.m <= kTileRows) return false;
  const bool shares_sets = std::max(a.row_step, a.col_step) * kBytes % 4096 == 0;
  const bool is_wide = product.n > 4 * Multiply<T>::kTileCols;
  if (a.col_step == 1) return is_wide && shares_sets && kTileRows > 8;
  constexpr int64_t kMinDepth = 128;
  constexpr int64_t kMinDepthOfWide = 80;
  constexpr int64_t kMinCols = 64;
  const bool is_far = shares_sets || a.col_step * kBytes >= 8192;
  if (is_far && product.k >= kMinDepth && product.n >= kMinCols) return true;
  if (is_far && product.k >= kMinDepthOfWide && is_wide) return true;
  return is_wide && (shares_sets || product.m * product.k * kBytes > HostCacheSizes().l2 / 4);
}

// Returns whether a copy of A that is used for all blocks of B repays itself: also of rows in pages
// of their own, if there are many blocks. A team copies for each block, and asks PacksA().
template <typename T>
bool PacksAForAll(const HostProduct<T>& product) {
  const bool has_pages = product.a.col_step == 1 && product.m > kTileRows &&
                         product.a.row_step * int64_t{sizeof(T)} >= kPageBytes;
  return PacksA(product) || (has_pages && product.n > kMinUsesOfCopy * MostOfBlocks<T>().n);
}

// Returns how many columns behind the last whole vector are dot products along rows of A. Tiles
// take a whole vector's time for them, dot products half of it for a quarter of a vector, and less
// than that for half of one, if k is not short: lanes are added at the end. Where there are few
// rows, or many columns, it is little of the whole.
template <typename T>
int64_t ColsAsDots(const HostProduct<T>& product) {
  constexpr int64_t kLanes = Multiply<T>::kLanes;
  const int64_t rest = product.n % kLanes;
  const int64_t vectors = product.n / kLanes;
  if (product.a.col_step != 1 || product.m <= 2 * kDotRows || vectors >= 20) return 0;
  const bool is_quarter = 4 * rest <= kLanes && vectors >= 1 && product.k >= 32;
  const bool is_half = 2 * rest <= kLanes && vectors >= 2 && product.k >= 128;
  return is_quarter || is_half ? rest : 0;
}

// Rows of a large B, each in pages of its own, that few rows of A are multiplied with at once: all
// strips of columns pass them before the next ones, so that their pages are translated once and not
// for each strip, and panels behind the first find them in the L1 cache, or in the L2 cache where
// they share sets.
inline constexpr int64_t kFarRowsAtOnce = 128;

// Returns the steps along k after which tiles in place store their sums.
template <typename T>
int64_t DepthInPlace(const HostProduct<T>& product) {
  const int64_t row_bytes = product.b.row_step * int64_t{sizeof(T)};
  const int64_t l2 = HostCacheSizes().l2;
  const int64_t least = row_bytes % kSetBytes == 0 ? l2 / 4 : l2 / 2;
  const bool is_few = product.m > kMaxRowsOfEight && product.m < kMinRowsOfCopy;
  if (is_few && row_bytes >= kPageBytes && product.n * product.k * int64_t{sizeof(T)} > least) {
    return kFarRowsAtOnce;
  }
  return product.m <= MaxRows(2) ? product.k : MostOfBlocks<T>().k;
}

// Reads operands where they lie.
template <typename T>
void MultiplyInPlace(const HostProduct<T>& product) {
  const auto by_tiles = [](const HostProduct<T>& tiles) {
    Multiply<T>(tiles).InPlace(DepthInPlace(tiles));
  };
  const int64_t rest = ColsAsDots(product);
  if (rest == 0) return by_tiles(product);
  const int64_t whole = product.n - rest;
  const T* const columns = WithoutGaps(product.b.At(0, whole), product.b.row_step, rest, product.k,
                                       &PackBuffers<T>::OfThread().few);
  // Both read rows of A, which therefore stay in the L2 cache meanwhile.
  const int64_t most =
      std::max<int64_t>(HostCacheSizes().l2 / 4 / (product.k * int64_t{sizeof(T)}), kTileRows);
  const int64_t rows = EqualParts(product.m, most, kTileRows);
  for (int64_t row = 0; row < product.m; row += rows) {
    HostProduct<T> part = product;
    part.m = std::min(rows, product.m - row);
    part.a.data = product.a.At(row, 0);
    part.c = product.c + row * product.ldc;
    part.n = whole;
    by_tiles(part);
    part.n = rest;
    part.b = {columns, 1, product.k};
    part.c += whole;
    MultiplyByDots(part);
  }
}

template <typename T>
void MultiplyAny(const HostProduct<T>& product) {
  switch (FormOf(product)) {
    case Form::kOuterProducts: {
      HostProduct<T> outer = product;
      if (product.b.col_step != 1) {
        // Rows of whole lines: all of them are loaded for each vector of C.
        constexpr int64_t kLine = 64 / sizeof(T);
        const int64_t step = (product.n + kLine - 1) / kLine * kLine;
        T* const rows = PackBuffers<T>::OfThread().few.AtLeast(step * product.k);
        PackTransposed(product.b.data, product.b.col_step, product.n, product.k, rows, step);
        outer.b = {rows, step, 1};
      }
      return MultiplyByOuterProducts(outer);
    }
    case Form::kDots:
      return MultiplyDots(product);
    case Form::kTransposed:
      return MultiplyTransposed(product);
    case Form::kInPlace:
      return MultiplyInPlace(product);
    case Form::kFewRows:
      return MultiplyFewRows(product);
    case Form::kStrips:
      return MultiplyStrips(product);
    case Form::kPacked:
      return Multiply<T>(product).Packed(PacksAForAll(product), BlocksOf(product));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_INL_H_
