// Products of a shallow k: sums of at most twelve outer products. What such a product takes is to
// write C; a tile of C would spend as long on its own beginning and end. So rows of C are written
// from end to end, from elements of A that stay in registers and rows of B that stay in the L1
// cache.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_OUTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_OUTER_INL_H_
#undef STRIDEWISE_MATMUL_CPU_OUTER_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_OUTER_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/with_count.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Up to this depth registers hold elements of A for two rows of C.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int64_t kMaxOuterDepth = 12;
#else
inline constexpr int64_t kMaxOuterDepth = 6;
#endif
inline constexpr int64_t kOuterBytes = 16 << 10;  // Of B's rows: a third of an L1 cache.

// Longer rows of C leave the L1 cache before the next ones are written.
inline constexpr int64_t kMaxFetchedCols = 512;

// Elements of A that registers hold beside a sum and an element of B.
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int kOuterElements = 24;
#else
inline constexpr int kOuterElements = 12;
#endif

// Computes rows [row, row + kRows) and columns [col, col + cols) of C.
template <typename T, int kDepth, int kRows>
HWY_ATTR void OuterRows(const HostProduct<T>& product, int64_t row, int64_t col, int64_t cols) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  V as[kRows][kDepth];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int p = 0; p < kDepth; ++p) {
      as[i][p] = hn::Set(d, product.alpha * *product.a.At(row + i, p));
    }
  }
  const T* HWY_RESTRICT b = product.b.At(0, col);
  const int64_t b_step = product.b.row_step;
  T* HWY_RESTRICT c = product.c + row * product.ldc + col;
  const int64_t ldc = product.ldc;
  const bool reads_c = product.beta != 0;
  const V beta = hn::Set(d, product.beta);
  // Stores wait for their lines one after another: those of the next rows are fetched meanwhile,
  // where they stay in the L1 cache until then.
  const int64_t ahead = cols <= kMaxFetchedCols ? kRows * ldc : 0;
  const auto vector = [&](auto load, auto store) {
    V sums[kRows];
#pragma GCC unroll 16
    for (int p = 0; p < kDepth; ++p) {
      const V element = load(b + p * b_step);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        sums[i] = p == 0 ? hn::Mul(as[i][p], element) : hn::MulAdd(as[i][p], element, sums[i]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      T* at = c + i * ldc;
      __builtin_prefetch(at + ahead, 1);
      store(reads_c ? hn::MulAdd(beta, load(at), sums[i]) : sums[i], at);
    }
  };
  int64_t left = cols;
  for (; left >= kLanes; left -= kLanes, b += kLanes, c += kLanes) {
    vector([&](const T* from) { return hn::LoadU(d, from); },
           [&](V value, T* to) { hn::StoreU(value, d, to); });
  }
  if (left == 0) return;
  const auto mask = hn::FirstN(d, static_cast<size_t>(left));
  vector([&](const T* from) { return hn::MaskedLoad(mask, d, from); },
         [&](V value, T* to) { hn::BlendedStore(value, mask, d, to); });
}

template <typename T, int kDepth>
void AddOuterProducts(const HostProduct<T>& product) {
  constexpr int kRows = std::min(8, kOuterElements / kDepth);
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t most_cols = kOuterBytes / (kDepth * int64_t{sizeof(T)}) / kLine * kLine;
  for (int64_t col = 0; col < product.n; col += most_cols) {
    const int64_t cols = std::min(most_cols, product.n - col);
    int64_t row = 0;
    for (; row + kRows <= product.m; row += kRows) {
      OuterRows<T, kDepth, kRows>(product, row, col, cols);
    }
    for (; row < product.m; ++row) OuterRows<T, kDepth, 1>(product, row, col, cols);
  }
}

// Computes the product. REQUIRES: k is at most kMaxOuterDepth; rows of B have no gaps.
template <typename T>
void MultiplyByOuterProducts(const HostProduct<T>& product) {
  WithCount<kMaxOuterDepth>(
      product.k, [&](auto depth) { AddOuterProducts<T, decltype(depth)::value>(product); });
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_OUTER_INL_H_
