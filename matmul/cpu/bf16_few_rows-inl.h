// Products of few rows of A with a B of bfloat16 that the caches do not hold, as few_rows-inl.h has
// them of float: B is read row by row, as it lies in memory, once and beside the multiply-adds.
//
// Two rows of B make a vector of words, for 16 columns, and another one for the 16 in between: two
// unpacks within quarters of a vector, which is why sums lie in that order until they are stored.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_FEW_ROWS_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_FEW_ROWS_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

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

inline constexpr int64_t kSumBytes = 24 << 10;  // Of all rows: half of an L1 cache.
inline constexpr int64_t kPieceBytes = 4096;    // Of a row of B.
inline constexpr int64_t kRowGroup = 5;         // Rows whose words of A registers hold.
inline constexpr int64_t kRowsAhead = 8;        // Of B, fetched before their turn.

// A part of the product that is computed at once: `cols` columns of B from `b` on.
struct FewRowsPart {
  const uint32_t* a;  // The words of the first pair: of all rows side by side.
  int64_t a_step;
  const Bf16* b;
  int64_t b_step;
  int64_t cols;
  int64_t ahead;  // Elements from a row of B to the one that is fetched; 0: none.
  float* sums;
  int64_t sums_step;
};

// Adds kPairs pairs of rows of B to kRows rows of sums. kOdd: there is no second row of the last.
template <int kRows, int kPairs, bool kFetches, bool kOdd>
void AddPairs(const FewRowsPart& part) {
  __m512i as[kPairs][kRows];
#pragma GCC unroll 4
  for (int s = 0; s < kPairs; ++s) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      as[s][i] = _mm512_set1_epi32(static_cast<int>(part.a[s * part.a_step + i]));
    }
  }
  const Bf16* const b = part.b;
  const int64_t b_step = part.b_step;
  const int64_t ahead = part.ahead;
  const auto add = [&](int64_t j, auto is_tail, __mmask32 mask) {
    const auto load = [&](const Bf16* from) {
      return is_tail ? _mm512_maskz_loadu_epi16(mask, from) : _mm512_loadu_si512(from);
    };
    __m512i low[kPairs];
    __m512i high[kPairs];
#pragma GCC unroll 4
    for (int s = 0; s < kPairs; ++s) {
      const Bf16* const even = b + 2 * s * b_step + j;
      const __m512i first = load(even);
      const __m512i second = kOdd ? _mm512_setzero_si512() : load(even + b_step);
      if constexpr (kFetches) {
        __builtin_prefetch(even + ahead, 0, 3);
        __builtin_prefetch(even + b_step + ahead, 0, 3);
      }
      low[s] = _mm512_unpacklo_epi16(first, second);
      high[s] = _mm512_unpackhi_epi16(first, second);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      float* const at = part.sums + i * part.sums_step + j;
      __m512 sums_low = _mm512_load_ps(at);
      __m512 sums_high = _mm512_load_ps(at + kLanes);
#pragma GCC unroll 4
      for (int s = 0; s < kPairs; ++s) {
        sums_low = DotProducts(sums_low, as[s][i], low[s]);
        sums_high = DotProducts(sums_high, as[s][i], high[s]);
      }
      _mm512_store_ps(at, sums_low);
      _mm512_store_ps(at + kLanes, sums_high);
    }
  };
  int64_t j = 0;
  for (; j + kWide <= part.cols; j += kWide) add(j, std::false_type(), 0);
  if (j < part.cols) add(j, std::true_type(), FirstElements(part.cols - j));
}

// Adds kPairs pairs of rows of B to the sums of all rows of A.
template <int kPairs, bool kOdd>
void AddToAllRows(const Panels& groups, FewRowsPart part) {
  const uint32_t* const a = part.a;
  float* const sums = part.sums;
  groups.ForEach([&](int64_t row, int64_t rows) {
    part.a = a + row;
    part.sums = sums + row * part.sums_step;
    const auto add = [&](auto tag) {
      constexpr int kRows = decltype(tag)::value;
      if (!kOdd && row == 0 && part.ahead != 0) {
        AddPairs<kRows, kPairs, true, kOdd>(part);
      } else {
        AddPairs<kRows, kPairs, false, kOdd>(part);
      }
    };
    WithCount<kRowGroup>(rows, add);
  });
}

// Stores sums, in the order of columns.
inline void StoreFewRows(const Target& c, int64_t rows, int64_t col, int64_t cols,
                         const float* sums, int64_t step) {
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; j += kWide) {
      const __m512 low = _mm512_load_ps(sums + i * step + j);
      const __m512 high = _mm512_load_ps(sums + i * step + j + kLanes);
      StoreSums(c, i, col + j, FirstLanes(cols - j), _mm512_permutex2var_ps(low, first, high));
      if (j + kLanes >= cols) break;
      StoreSums(c, i, col + j + kLanes, FirstLanes(cols - j - kLanes),
                _mm512_permutex2var_ps(low, second, high));
    }
  }
}

// Computes the product; `c` says where C is. REQUIRES: rows of B have no gaps.
inline void MultiplyFewRows(const HostProduct<Bf16, float>& product, const Target& c) {
  constexpr int64_t kPairs = 4;
  const Panels groups(product.m, kRowGroup);
  const int64_t most = std::min(kSumBytes / (product.m * int64_t{sizeof(float)}),
                                kPieceBytes / int64_t{sizeof(Bf16)});
  const int64_t step = std::max(most / kWide * kWide, kWide);
  PackBuffers<uint32_t>& words = PackBuffers<uint32_t>::OfThread();
  uint32_t* const a = words.few.AtLeast(product.m * ((product.k + 1) / 2));
  PackPairs(product.a, product.m, product.k, a, product.m);
  float* const sums = PackBuffers<float>::OfThread().few.AtLeast(product.m * step);
  FewRowsPart part = {};
  part.a_step = product.m;
  part.b_step = product.b.row_step;
  part.sums = sums;
  part.sums_step = step;
  for (int64_t col = 0; col < product.n; col += step) {
    part.cols = std::min(step, product.n - col);
    std::fill(sums, sums + product.m * step, 0.0f);
    for (int64_t p = 0; p < product.k;) {
      const int64_t left = product.k - p;
      part.a = a + p / 2 * product.m;
      part.b = product.b.At(p, col);
      part.ahead = left >= kRowsAhead + 2 * kPairs ? kRowsAhead * part.b_step : 0;
      if (left >= 2 * kPairs) {
        AddToAllRows<kPairs, false>(groups, part);
        p += 2 * kPairs;
      } else if (left >= 2) {
        AddToAllRows<1, false>(groups, part);
        p += 2;
      } else {
        AddToAllRows<1, true>(groups, part);
        ++p;
      }
    }
    StoreFewRows(c, product.m, col, part.cols, sums, step);
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_FEW_ROWS_INL_H_
