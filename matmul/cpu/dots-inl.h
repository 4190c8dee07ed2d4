// Products of few rows of A with few columns of B that both lie along k: dot products, a vector of
// partial sums for each element of C. Nothing is packed, and each operand is read once.
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
#include <type_traits>

#include "hwy/highway.h"
#include "matmul/cpu/host_product.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int64_t kMaxDots = 4;  // Rows of A, and columns of B, at once.

// Computes kRows x kCols elements of C from its element (row, col) on.
template <typename T, int kRows, int kCols>
HWY_ATTR void Dots(const HostProduct<T>& product, int64_t row, int64_t col) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  // Four sums hide the latency of one dot product's multiply-adds.
  constexpr int kChains = kRows * kCols >= 8 ? 1 : kRows * kCols >= 4 ? 2 : 4;
  const T* HWY_RESTRICT a = product.a.At(row, 0);
  const T* HWY_RESTRICT b = product.b.At(0, col);
  const int64_t a_step = product.a.row_step;
  const int64_t b_step = product.b.col_step;
  V sums[kChains][kRows][kCols];
#pragma GCC unroll 16
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < kCols; ++j) sums[chain][i][j] = hn::Zero(d);
    }
  }
  const auto add = [&](int chain, auto load) {
    V as[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) as[i] = load(a + i * a_step);
#pragma GCC unroll 16
    for (int j = 0; j < kCols; ++j) {
      const V element = load(b + j * b_step);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        sums[chain][i][j] = hn::MulAdd(as[i], element, sums[chain][i][j]);
      }
    }
  };
  int64_t p = 0;
  for (; p + kChains * kLanes <= product.k; p += kChains * kLanes) {
#pragma GCC unroll 16
    for (int chain = 0; chain < kChains; ++chain) {
      add(chain, [&](const T* at) { return hn::LoadU(d, at + p + chain * kLanes); });
    }
  }
  for (; p < product.k; p += kLanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(std::min(kLanes, product.k - p)));
    add(0, [&](const T* at) { return hn::MaskedLoad(mask, d, at + p); });
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 16
    for (int j = 0; j < kCols; ++j) {
      V sum = sums[0][i][j];
#pragma GCC unroll 16
      for (int chain = 1; chain < kChains; ++chain) sum = hn::Add(sum, sums[chain][i][j]);
      T& c = product.c[(row + i) * product.ldc + col + j];
      const T value = product.alpha * hn::GetLane(hn::SumOfLanes(d, sum));
      c = product.beta == 0 ? value : value + product.beta * c;
    }
  }
}

// Computes the product. REQUIRES: rows of A and columns of B have no gaps.
template <typename T>
void MultiplyByDots(const HostProduct<T>& product) {
  const auto strip = [&](auto rows, int64_t row) {
    constexpr int kRows = decltype(rows)::value;
    int64_t col = 0;
    for (; col + kMaxDots <= product.n; col += kMaxDots) Dots<T, kRows, 4>(product, row, col);
    switch (product.n - col) {
      case 1:
        return Dots<T, kRows, 1>(product, row, col);
      case 2:
        return Dots<T, kRows, 2>(product, row, col);
      case 3:
        return Dots<T, kRows, 3>(product, row, col);
      default:
        return;
    }
  };
  int64_t row = 0;
  for (; row + kMaxDots <= product.m; row += kMaxDots) {
    strip(std::integral_constant<int, 4>(), row);
  }
  switch (product.m - row) {
    case 1:
      return strip(std::integral_constant<int, 1>(), row);
    case 2:
      return strip(std::integral_constant<int, 2>(), row);
    case 3:
      return strip(std::integral_constant<int, 3>(), row);
    default:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_MATMUL_CPU_DOTS_INL_H_
