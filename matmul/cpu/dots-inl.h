// Products whose operands both lie along k, of few rows or few columns: dot products, a vector of
// partial sums for each element of C. Nothing is packed.
//
// A tile is up to six rows of A by four columns of B: 24 multiply-adds for ten loads. Its rows of
// the operand that is read from memory stay in the L1 cache while the other, which is small,
// streams past from the L2 cache. Five to eight columns are all beside three rows, which are then
// read once and from end to end: 1.15 times as fast for 8192x8x8192 on 16 cores. The sums of four
// columns are added across lanes together: 13 instructions for four sums instead of 10 for each.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_DOTS_INL_H_
#undef STRIDEWISE_MATMUL_CPU_DOTS_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_DOTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/cache_blocks.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/with_count.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kDotCols = 4;
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr int64_t kDotRows = 6;  // 24 sums, four columns and a row in 32 registers.
#else
inline constexpr int64_t kDotRows = 2;  // 8 sums, four columns and a row in 16.
#endif
inline constexpr int64_t kRowsOfWideDots = kDotRows / 2;  // Of more than four columns.
inline constexpr int64_t kMaxDotCols = kRowsOfWideDots > 1 ? 2 * kDotCols : kDotCols;
inline constexpr int64_t kDotBytes = 4096;  // Of a row at once: 24 KB of six rows.

#if HWY_TARGET != HWY_SCALAR

// Adds the blocks of 16 bytes of a vector.
template <class D, class V>
HWY_INLINE auto SumOfBlocks(D d, V v) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

#endif

// Adds the lanes of four vectors, each to one element of `sums`.
template <typename T, class D, class V>
HWY_INLINE void SumLanesOfFour(D d, const V (&v)[kDotCols], T* HWY_RESTRICT sums) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(d);
  for (int64_t i = 0; i < kDotCols; ++i) sums[i] = hn::GetLane(v[i]);
#else
  const auto pair = [&](V a, V b) {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  const hn::Full128<T> block;
  const V first = pair(v[0], v[1]);
  const V second = pair(v[2], v[3]);
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(SumOfBlocks(d, first), block, sums);
    hn::StoreU(SumOfBlocks(d, second), block, sums + 2);
  } else {
    // Lanes 0 and 1 of a block have sums of v[0] and v[1], lanes 2 and 3 too.
    const hn::Repartition<double, D> pairs;
    const auto a = hn::BitCast(pairs, first);
    const auto b = hn::BitCast(pairs, second);
    const V sum = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)),
                          hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)));
    hn::StoreU(SumOfBlocks(d, sum), block, sums);
  }
#endif
}

// Computes C's elements from (row, col) on, kRows x kCols, from columns [p, p + k) of A.
template <typename T, int kRows, int kCols>
HWY_ATTR void Dots(const HostProduct<T>& product, int64_t row, int64_t col, int64_t p, int64_t k) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  // Eight sums in flight hide the latency of multiply-adds.
  constexpr int kChains = kRows * kCols >= 8 ? 1 : kRows * kCols >= 4 ? 2 : 4;
  const T* HWY_RESTRICT a = product.a.At(row, p);
  const T* HWY_RESTRICT b = product.b.At(p, col);
  const int64_t a_step = product.a.row_step;
  const int64_t b_step = product.b.col_step;
  constexpr int kFours = (kCols + kDotCols - 1) / kDotCols;
  V sums[kChains][kRows][kFours][kDotCols];
#pragma GCC unroll 16
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < kFours * kDotCols; ++j) {
        sums[chain][i][j / kDotCols][j % kDotCols] = hn::Zero(d);
      }
    }
  }
  const auto add = [&](int chain, auto load) {
    const auto add_to = [&](int i, int j, V from_a, V from_b) {
      V& sum = sums[chain][i][j / kDotCols][j % kDotCols];
      sum = hn::MulAdd(from_a, from_b, sum);
    };
    if constexpr (kFours > 1) {  // Keeps in registers the operand that has fewer.
      V as[kRows];
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) as[i] = load(a + i * a_step);
#pragma GCC unroll 16
      for (int j = 0; j < kCols; ++j) {
        const V element = load(b + j * b_step);
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) add_to(i, j, as[i], element);
      }
    } else {
      V bs[kCols];
#pragma GCC unroll 16
      for (int j = 0; j < kCols; ++j) bs[j] = load(b + j * b_step);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const V element = load(a + i * a_step);
#pragma GCC unroll 16
        for (int j = 0; j < kCols; ++j) add_to(i, j, element, bs[j]);
      }
    }
  };
  int64_t at = 0;
  for (; at + kChains * kLanes <= k; at += kChains * kLanes) {
#pragma GCC unroll 16
    for (int chain = 0; chain < kChains; ++chain) {
      add(chain, [&](const T* from) { return hn::LoadU(d, from + at + chain * kLanes); });
    }
  }
  for (; at < k; at += kLanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(std::min(kLanes, k - at)));
    add(0, [&](const T* from) { return hn::MaskedLoad(mask, d, from + at); });
  }
  const T beta = p == 0 ? product.beta : T{1};
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int chain = 1; chain < kChains; ++chain) {
#pragma GCC unroll 16
      for (int j = 0; j < kCols; ++j) {
        V& sum = sums[0][i][j / kDotCols][j % kDotCols];
        sum = hn::Add(sum, sums[chain][i][j / kDotCols][j % kDotCols]);
      }
    }
    alignas(16) T values[kFours * kDotCols];
#pragma GCC unroll 16
    for (int four = 0; four < kFours; ++four) {
      SumLanesOfFour(d, sums[0][i][four], values + four * kDotCols);
    }
    T* HWY_RESTRICT c = product.c + (row + i) * product.ldc + col;
#pragma GCC unroll 16
    for (int j = 0; j < kCols; ++j) {
      const T value = product.alpha * values[j];
      c[j] = beta == 0 ? value : value + beta * c[j];
    }
  }
}

template <typename T>
using DotsFunction = void (*)(const HostProduct<T>&, int64_t, int64_t, int64_t, int64_t);

// REQUIRES: up to kRowsOfWideDots rows where there are more than kDotCols columns.
template <typename T>
DotsFunction<T> FindDots(int64_t rows, int64_t cols) {
  if constexpr (kMaxDotCols > kDotCols) {
    const auto find_wide = [&](auto tag) -> DotsFunction<T> {
      constexpr int kRows = decltype(tag)::value;
      static constexpr DotsFunction<T> kTable[] = {Dots<T, kRows, 5>, Dots<T, kRows, 6>,
                                                   Dots<T, kRows, 7>, Dots<T, kRows, 8>};
      return kTable[cols - kDotCols - 1];
    };
    if (cols > kDotCols) return WithCount<kRowsOfWideDots>(rows, find_wide);
  }
  const auto find = [&](auto tag) -> DotsFunction<T> {
    constexpr int kRows = decltype(tag)::value;
    static constexpr DotsFunction<T> kTable[] = {Dots<T, kRows, 1>, Dots<T, kRows, 2>,
                                                 Dots<T, kRows, 3>, Dots<T, kRows, 4>};
    return kTable[cols - 1];
  };
  return WithCount<kDotRows>(rows, find);
}

// Computes the product. REQUIRES: rows of A and columns of B have no gaps.
template <typename T>
void MultiplyByDots(const HostProduct<T>& product) {
  const bool is_wide = product.m > product.n && product.n > kDotCols && product.n <= kMaxDotCols;
  const int64_t most_cols = is_wide ? kMaxDotCols : kDotCols;
  const Panels rows(product.m, is_wide ? kRowsOfWideDots : kDotRows);
  const auto for_cols = [&](auto fn) {
    for (int64_t col = 0; col < product.n; col += most_cols) {
      fn(col, std::min(most_cols, product.n - col));
    }
  };
  // Where one of the operands is one tile, the other is read once and from end to end.
  const bool reads_once = product.m <= kDotRows || product.n <= most_cols;
  const int64_t depth =
      reads_once ? product.k : EqualParts(product.k, kDotBytes / int64_t{sizeof(T)}, 64);
  for (int64_t p = 0; p < product.k; p += depth) {
    const int64_t k = std::min(depth, product.k - p);
    if (product.m > product.n) {
      rows.ForEach([&](int64_t row, int64_t height) {
        for_cols([&](int64_t col, int64_t width) {
          FindDots<T>(height, width)(product, row, col, p, k);
        });
      });
    } else {
      for_cols([&](int64_t col, int64_t width) {
        rows.ForEach([&](int64_t row, int64_t height) {
          FindDots<T>(height, width)(product, row, col, p, k);
        });
      });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_DOTS_INL_H_
