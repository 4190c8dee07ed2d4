// Copies of operands of bfloat16 in the words that VDPBF16PS reads: pairs along k, of up to `width`
// rows of A or columns of B. The word of pair p and row i lies at p * width + i; behind an odd k
// its upper half is zero.
//
// Included by multiply_bf16_avx512.cc alone, as are the other bf16_*-inl.h.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_PACKING_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_PACKING_INL_H_

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/host_product.h"

// What functions with these instructions are compiled for.
#define STRIDEWISE_BF16_TARGET "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_BF16_TARGET)
namespace stridewise {
namespace bf16 {

inline constexpr int64_t kLanes = 16;         // Sums, and words, of a vector.
inline constexpr int64_t kWide = 2 * kLanes;  // Elements of a vector.

// Returns a mask of the first `count` lanes; none below 0, all from 16 on.
inline __mmask16 FirstLanes(int64_t count) {
  const int64_t lanes = std::clamp<int64_t>(count, 0, kLanes);
  return static_cast<__mmask16>((uint32_t{1} << lanes) - 1);
}

// The same for elements of a vector.
inline __mmask32 FirstElements(int64_t count) {
  const int64_t elements = std::clamp<int64_t>(count, 0, kWide);
  return static_cast<__mmask32>((uint64_t{1} << elements) - 1);
}

// Transposes a square of 16 words in registers.
inline void TransposeWords(__m512i (&rows)[kLanes]) {
  __m512i halves[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; i += 2) {
    halves[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    halves[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  // Quarter q of quarters[4 * i + j] has word 4 * q + j of rows 4 * i to 4 * i + 3.
  __m512i quarters[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; i += 4) {
    quarters[i] = _mm512_unpacklo_epi64(halves[i], halves[i + 2]);
    quarters[i + 1] = _mm512_unpackhi_epi64(halves[i], halves[i + 2]);
    quarters[i + 2] = _mm512_unpacklo_epi64(halves[i + 1], halves[i + 3]);
    quarters[i + 3] = _mm512_unpackhi_epi64(halves[i + 1], halves[i + 3]);
  }
#pragma GCC unroll 16
  for (int j = 0; j < 4; ++j) {
    const __m512i even_low = _mm512_shuffle_i32x4(quarters[j], quarters[j + 4], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(quarters[j], quarters[j + 4], 0xdd);
    const __m512i even_high = _mm512_shuffle_i32x4(quarters[j + 8], quarters[j + 12], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(quarters[j + 8], quarters[j + 12], 0xdd);
    rows[j] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    rows[j + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    rows[j + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    rows[j + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

// Packs `count` runs along k, `step` apart; lanes up to `width` are zero. A line of each of 16 runs
// at a time, from end to end: runs that are a power of two apart share a set of the L1 cache.
inline void PackAlong(const Bf16* from, int64_t step, int64_t count, int64_t k, uint32_t* to,
                      int64_t width) {
  for (int64_t i = 0; i < width; i += kLanes) {
    const __mmask16 written = FirstLanes(width - i);
    for (int64_t p = 0; p < k; p += kWide) {
      const __mmask32 mask = FirstElements(k - p);
      const int64_t pairs = std::min(kLanes, (k - p + 1) / 2);
      const Bf16* const run = from + i * step + p;
      __m512i rows[kLanes];
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        rows[r] =
            i + r < count ? _mm512_maskz_loadu_epi16(mask, run + r * step) : _mm512_setzero_si512();
      }
      TransposeWords(rows);
      uint32_t* const lanes = to + p / 2 * width + i;
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        if (r < pairs) _mm512_mask_storeu_epi32(lanes + r * width, written, rows[r]);
      }
    }
  }
}

// Packs k runs across, `step` apart, of `count` elements each.
inline void PackAcross(const Bf16* from, int64_t step, int64_t count, int64_t k, uint32_t* to,
                       int64_t width) {
  for (int64_t p = 0; p < k; p += 2, to += width) {
    const Bf16* const low = from + p * step;
    for (int64_t i = 0; i < width; i += kLanes) {
      const __mmask16 mask = FirstLanes(count - i);
      __m512i pairs = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, low + i));
      if (p + 1 < k) {
        const __m256i high = _mm256_maskz_loadu_epi16(mask, low + step + i);
        pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
      }
      _mm512_mask_storeu_epi32(to + i, FirstLanes(width - i), pairs);
    }
  }
}

// Packs `count` rows of A, or of B's transpose, k elements of each.
inline void PackPairs(const Strided<Bf16>& from, int64_t count, int64_t k, uint32_t* to,
                      int64_t width) {
  if (from.col_step == 1) {
    PackAlong(from.data, from.row_step, count, k, to, width);
  } else {
    PackAcross(from.data, from.col_step, count, k, to, width);
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_PACKING_INL_H_
