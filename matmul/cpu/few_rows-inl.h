// Products of few rows of A with a B that the caches do not hold. B is read row by row, as it lies
// in memory, once and beside the multiply-adds, where packing would read it before them; sums are
// kept in the L1 cache.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_
#undef STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_
#else
#define STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/with_count.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kMaxFewRows = 32;
inline constexpr int64_t kSumBytes = 24 << 10;  // Of all rows: half of an L1 cache.
inline constexpr int64_t kRowGroup = 6;         // Rows whose elements of A registers hold.
inline constexpr int64_t kRowsAhead = 8;        // Of B, fetched before their turn.
inline constexpr int64_t kMaxRowsOfEight =
    3;  // So few are multiplied with eight rows of B at once.

// Adds kSteps rows of B, from row p and column col on, to kRows rows of sums.
template <typename T, int kRows, int kSteps, bool kFetches>
HWY_ATTR void AddRows(const HostProduct<T>& product, int64_t row, int64_t p, int64_t col,
                      int64_t cols, T* HWY_RESTRICT sums, int64_t sums_step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  V as[kSteps][kRows];
#pragma GCC unroll 16
  for (int s = 0; s < kSteps; ++s) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) as[s][i] = hn::Set(d, *product.a.At(row + i, p + s));
  }
  const T* HWY_RESTRICT b = product.b.At(p, col);
  const int64_t b_step = product.b.row_step;
  [[maybe_unused]] const int64_t ahead =
      p + kRowsAhead + kSteps <= product.k ? kRowsAhead * b_step : 0;
  const auto add = [&](int64_t j, auto load) {
    V bs[kSteps];
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; ++s) {
      bs[s] = load(b + s * b_step + j);
      if constexpr (kFetches) __builtin_prefetch(b + s * b_step + ahead + j, 0, 3);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      V value = hn::Load(d, sums + i * sums_step + j);
#pragma GCC unroll 16
      for (int s = 0; s < kSteps; ++s) value = hn::MulAdd(as[s][i], bs[s], value);
      hn::Store(value, d, sums + i * sums_step + j);
    }
  };
  int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes) add(j, [&](const T* at) { return hn::LoadU(d, at); });
  if (j < cols) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(cols - j));
    add(j, [&](const T* at) { return hn::MaskedLoad(mask, d, at); });
  }
}

// Adds rows [p, p + kSteps) of B to the sums of all rows.
template <typename T, int kSteps>
void AddToAllRows(const HostProduct<T>& product, const Panels& groups, int64_t p, int64_t col,
                  int64_t cols, T* sums, int64_t sums_step) {
  groups.ForEach([&](int64_t row, int64_t rows) {
    T* to = sums + row * sums_step;
    const auto add = [&](auto tag) {
      constexpr int kRows = decltype(tag)::value;
      if constexpr (kSteps == 8 && kRows > kMaxRowsOfEight) {
        return;  // Not called.
      } else if (kRows > kMaxRowsOfEight && row == 0) {
        AddRows<T, kRows, kSteps, true>(product, row, p, col, cols, to, sums_step);
      } else {
        AddRows<T, kRows, kSteps, false>(product, row, p, col, cols, to, sums_step);
      }
    };
    WithCount<kRowGroup>(rows, add);
  });
}

// Computes the product. REQUIRES: at most kMaxFewRows rows; rows of B have no gaps.
template <typename T>
void MultiplyFewRows(const HostProduct<T>& product) {
  constexpr int64_t kUnit = 256 / sizeof(T);  // Sums begin with cache lines, pieces of B with four.
  const Panels groups(product.m, kRowGroup);
  const int64_t most =
      std::min<int64_t>(kSumBytes / (product.m * int64_t{sizeof(T)}), 4096 / sizeof(T));
  const int64_t step = std::max(most / kUnit * kUnit, kUnit);
  T* const sums = PackBuffers<T>::OfThread().few.AtLeast(product.m * step);
  for (int64_t col = 0; col < product.n; col += step) {
    const int64_t cols = std::min(step, product.n - col);
    std::fill(sums, sums + product.m * step, T{0});
    int64_t p = 0;
    if (product.m <= kMaxRowsOfEight) {
      for (; p + 8 <= product.k; p += 8) {
        AddToAllRows<T, 8>(product, groups, p, col, cols, sums, step);
      }
    }
    for (; p + 4 <= product.k; p += 4) {
      AddToAllRows<T, 4>(product, groups, p, col, cols, sums, step);
    }
    for (; p < product.k; ++p) AddToAllRows<T, 1>(product, groups, p, col, cols, sums, step);
    for (int64_t i = 0; i < product.m; ++i) {
      T* c = product.c + i * product.ldc + col;
      const T* from = sums + i * step;
      for (int64_t j = 0; j < cols; ++j) {
        const T value = product.alpha * from[j];
        c[j] = product.beta == 0 ? value : value + product.beta * c[j];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_
