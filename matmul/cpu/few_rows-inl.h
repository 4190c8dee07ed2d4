// Products of at most three rows of A: vector times matrix. B is read row by row, as it lies in
// memory, so that the hardware's prefetching follows it; sums are kept in the L1 cache.
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

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kMaxFewRows = 3;
inline constexpr int64_t kRowSumBytes = 4096;  // Of each row: a few vectors' time to a page of B.

// Adds kSteps rows of B, from row p and column col on, to the rows of sums.
template <typename T, int kRows, int kSteps>
HWY_ATTR void AddRows(const HostProduct<T>& product, int64_t p, int64_t col, int64_t cols,
                      T* HWY_RESTRICT sums, int64_t sums_step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  V as[kSteps][kRows];
#pragma GCC unroll 16
  for (int s = 0; s < kSteps; ++s) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) as[s][i] = hn::Set(d, *product.a.At(i, p + s));
  }
  const T* HWY_RESTRICT b = product.b.At(p, col);
  const int64_t b_step = product.b.row_step;
  const auto add = [&](int64_t j, auto load) {
    V values[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) values[i] = hn::Load(d, sums + i * sums_step + j);
#pragma GCC unroll 16
    for (int s = 0; s < kSteps; ++s) {
      const V element = load(b + s * b_step + j);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) values[i] = hn::MulAdd(as[s][i], element, values[i]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) hn::Store(values[i], d, sums + i * sums_step + j);
  };
  int64_t j = 0;
  for (; j + kLanes <= cols; j += kLanes) add(j, [&](const T* at) { return hn::LoadU(d, at); });
  if (j < cols) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(cols - j));
    add(j, [&](const T* at) { return hn::MaskedLoad(mask, d, at); });
  }
}

template <typename T, int kRows>
void MultiplyRows(const HostProduct<T>& product) {
  constexpr int64_t kStep = kRowSumBytes / sizeof(T);
  alignas(64) T sums[kRows * kStep];
  for (int64_t col = 0; col < product.n; col += kStep) {
    const int64_t cols = std::min(kStep, product.n - col);
    std::fill(sums, sums + kRows * kStep, T{0});
    int64_t p = 0;
    for (; p + 8 <= product.k; p += 8) AddRows<T, kRows, 8>(product, p, col, cols, sums, kStep);
    for (; p < product.k; ++p) AddRows<T, kRows, 1>(product, p, col, cols, sums, kStep);
    for (int i = 0; i < kRows; ++i) {
      T* c = product.c + i * product.ldc + col;
      const T* from = sums + i * kStep;
      for (int64_t j = 0; j < cols; ++j) {
        const T value = product.alpha * from[j];
        c[j] = product.beta == 0 ? value : value + product.beta * c[j];
      }
    }
  }
}

// Computes the product. REQUIRES: at most kMaxFewRows rows; rows of B have no gaps.
template <typename T>
void MultiplyFewRows(const HostProduct<T>& product) {
  switch (product.m) {
    case 1:
      return MultiplyRows<T, 1>(product);
    case 2:
      return MultiplyRows<T, 2>(product);
    default:
      return MultiplyRows<T, 3>(product);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_FEW_ROWS_INL_H_
