// Products of bfloat16 whose operands both lie along k, of few rows or few columns: dot products of
// 32 steps an instruction, as dots-inl.h has them of float. Nothing is packed.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_DOTS_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_DOTS_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_packing-inl.h"
#include "matmul/cpu/bf16_tile-inl.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/with_count.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_BF16_TARGET)
namespace stridewise {
namespace bf16 {

inline constexpr int64_t kDotCols = 4;
inline constexpr int64_t kDotRows = 6;  // 24 sums, four columns and a row in 32 registers.

inline __m512 AddPairs(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}

// Adds the lanes of four vectors, each to one lane of the result.
inline __m128 SumLanesOfFour(const __m512 (&v)[kDotCols]) {
  // Lanes 0 and 1 of a quarter have sums of v[0] and v[1], lanes 2 and 3 too.
  const __m512d first = _mm512_castps_pd(AddPairs(v[0], v[1]));
  const __m512d second = _mm512_castps_pd(AddPairs(v[2], v[3]));
  const __m512 sum = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(first, second)),
                                   _mm512_castpd_ps(_mm512_unpackhi_pd(first, second)));
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

// Computes C's elements from (row, col) on, kRows x kCols.
template <int kRows, int kCols>
void Dots(const HostProduct<Bf16, float>& product, const Target& c, int64_t row, int64_t col) {
  // Twelve sums in flight hide the latency of the instruction.
  constexpr int kChains = kRows * kCols >= 12 ? 1 : kRows * kCols >= 6 ? 2 : 4;
  const Bf16* const a = product.a.At(row, 0);
  const Bf16* const b = product.b.At(0, col);
  const int64_t a_step = product.a.row_step;
  const int64_t b_step = product.b.col_step;
  __m512 sums[kChains][kRows][kDotCols];
#pragma GCC unroll 4
  for (int chain = 0; chain < kChains; ++chain) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kDotCols; ++j) sums[chain][i][j] = _mm512_setzero_ps();
    }
  }
  const auto add = [&](int chain, auto load) {
    __m512i bs[kCols];
#pragma GCC unroll 4
    for (int j = 0; j < kCols; ++j) bs[j] = load(b + j * b_step);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512i elements = load(a + i * a_step);
#pragma GCC unroll 4
      for (int j = 0; j < kCols; ++j) {
        sums[chain][i][j] = DotProducts(sums[chain][i][j], elements, bs[j]);
      }
    }
  };
  int64_t at = 0;
  for (; at + kChains * kWide <= product.k; at += kChains * kWide) {
#pragma GCC unroll 4
    for (int chain = 0; chain < kChains; ++chain) {
      add(chain, [&](const Bf16* from) { return _mm512_loadu_si512(from + at + chain * kWide); });
    }
  }
  for (; at < product.k; at += kWide) {
    const __mmask32 mask = FirstElements(product.k - at);
    add(0, [&](const Bf16* from) { return _mm512_maskz_loadu_epi16(mask, from + at); });
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int chain = 1; chain < kChains; ++chain) {
#pragma GCC unroll 4
      for (int j = 0; j < kCols; ++j) {
        sums[0][i][j] = _mm512_add_ps(sums[0][i][j], sums[chain][i][j]);
      }
    }
    StoreSums(c, row + i, col, FirstLanes(kCols),
              _mm512_zextps128_ps512(SumLanesOfFour(sums[0][i])));
  }
}

using DotsFunction = void (*)(const HostProduct<Bf16, float>& product, const Target& c, int64_t row,
                              int64_t col);

inline DotsFunction FindDots(int64_t rows, int64_t cols) {
  const auto find = [&](auto tag) -> DotsFunction {
    constexpr int kRows = decltype(tag)::value;
    static constexpr DotsFunction kTable[] = {Dots<kRows, 1>, Dots<kRows, 2>, Dots<kRows, 3>,
                                              Dots<kRows, 4>};
    return kTable[cols - 1];
  };
  return WithCount<kDotRows>(rows, find);
}

// Computes the product; `c` says where C is. REQUIRES: rows of A and columns of B have no gaps.
inline void MultiplyByDots(const HostProduct<Bf16, float>& product, const Target& c) {
  const Panels rows(product.m, kDotRows);
  const auto for_cols = [&](auto fn) {
    for (int64_t col = 0; col < product.n; col += kDotCols) {
      fn(col, std::min(kDotCols, product.n - col));
    }
  };
  // The operand that is read from memory is read once; the other one, which is small, many times.
  if (product.m > product.n) {
    rows.ForEach([&](int64_t row, int64_t height) {
      for_cols([&](int64_t col, int64_t width) { FindDots(height, width)(product, c, row, col); });
    });
  } else {
    for_cols([&](int64_t col, int64_t width) {
      rows.ForEach(
          [&](int64_t row, int64_t height) { FindDots(height, width)(product, c, row, col); });
    });
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_DOTS_INL_H_
