// The micro-kernel of bfloat16: a tile of C in registers, two steps along k an instruction.
//
// Eight rows by three vectors, as of float (tile_kernel-inl.h): the instruction has the rate of a
// multiply-add, and a word of A is broadcast as a float is.

#ifndef STRIDEWISE_MATMUL_CPU_BF16_TILE_INL_H_
#define STRIDEWISE_MATMUL_CPU_BF16_TILE_INL_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "common/base/half_types.h"
#include "hwy/base.h"
#include "matmul/cpu/bf16_packing-inl.h"

HWY_PUSH_ATTRIBUTES(STRIDEWISE_BF16_TARGET)
namespace stridewise {
namespace bf16 {

inline constexpr int kTileRows = 8;
inline constexpr int kTileVectors = 3;
inline constexpr int64_t kTileCols = kTileVectors * kLanes;

// Where sums go: to C of float, or to a buffer of sums and from there to C of bfloat16.
struct Target {
  float* sums = nullptr;  // sums = alpha * products + beta * sums.
  int64_t sums_step = 0;
  float alpha = 1;
  float beta = 0;
  Bf16* out = nullptr;  // Null: sums are stored. Else out = rounded (sums + out_beta * out).
  int64_t out_step = 0;
  float out_beta = 0;
};

// What a call of the micro-kernel reads and writes.
struct TileCall {
  int64_t k;      // Elements.
  const void* a;  // Packed words, or elements of the first row.
  int64_t a_row;  // Where A is read in place: elements from row to row.
  const uint32_t* b;
  Target c;        // From the tile's first element on.
  __mmask16 last;  // Lanes of the last vector that are columns of C.
  // What is fetched to the L2 cache meanwhile, for a later copy: lines `later_step` elements apart,
  // two for every eight steps along k but the first ones.
  const Bf16* later;
  int64_t later_step;
  int64_t later_lines;
};

inline __m512 Widen(__m256i elements) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(elements), 16));
}

inline __m512 DotProducts(__m512 sums, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

// Stores a vector of sums of products, from column `col` of row `row` on.
inline void StoreSums(const Target& c, int64_t row, int64_t col, __mmask16 mask, __m512 sums) {
  sums = _mm512_mul_ps(_mm512_set1_ps(c.alpha), sums);
  if (c.beta != 0) {
    const float* const before = c.sums + row * c.sums_step + col;
    sums = _mm512_fmadd_ps(_mm512_set1_ps(c.beta), _mm512_maskz_loadu_ps(mask, before), sums);
  }
  if (c.out == nullptr) {
    return _mm512_mask_storeu_ps(c.sums + row * c.sums_step + col, mask, sums);
  }
  Bf16* const out = c.out + row * c.out_step + col;
  if (c.out_beta != 0) {
    sums = _mm512_fmadd_ps(_mm512_set1_ps(c.out_beta), Widen(_mm256_maskz_loadu_epi16(mask, out)),
                           sums);
  }
  _mm256_mask_storeu_epi16(out, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(sums)));
}

// kPacked: A is packed. Else its rows are read where they lie, three to a base register.
template <int kRows, int kVectors, bool kPacked>
void Tile(const TileCall& call) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_setzero_ps();
  }
  constexpr int kBaseRows = kPacked ? kRows : 3;
  constexpr int kBases = (kRows + kBaseRows - 1) / kBaseRows;
  constexpr int64_t kWord = sizeof(uint32_t);
  const int64_t a_row = kPacked ? kWord : call.a_row * int64_t{sizeof(Bf16)};
  const char* a[kBases];
#pragma GCC unroll 8
  for (int i = 0; i < kBases; ++i) {
    a[i] = static_cast<const char*>(call.a) + i * kBaseRows * a_row;
  }
  int64_t one_row = a_row;
  int64_t two_rows = 2 * a_row;
  const uint32_t* b = call.b;
  const auto step = [&](auto load_word, int64_t ahead) {
    __m512i columns[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) columns[v] = _mm512_loadu_si512(b + v * kLanes);
    if constexpr (!kPacked) asm("" : "+r"(one_row), "+r"(two_rows));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const int row = i % kBaseRows;
      const int64_t offset = kPacked ? row * kWord : row == 0 ? 0 : row == 1 ? one_row : two_rows;
      const __m512i element = _mm512_set1_epi32(load_word(a[i / kBaseRows] + offset + ahead));
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = DotProducts(sums[i][v], element, columns[v]);
      }
    }
    b += kVectors * kLanes;
  };
  const auto advance = [&](int64_t bytes) {
#pragma GCC unroll 8
    for (int i = 0; i < kBases; ++i) a[i] += bytes;
  };
  const auto word = [](const char* from) {
    int32_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  constexpr int kSteps = 4;
  constexpr int64_t kStep = kPacked ? kRows * kWord : kWord;
  // Of C, a row of the tile in each of the first steps.
  const bool rounds = call.c.out != nullptr;
  const char* next = rounds ? reinterpret_cast<const char*>(call.c.out)
                            : reinterpret_cast<const char*>(call.c.sums);
  const int64_t next_row =
      rounds ? call.c.out_step * int64_t{sizeof(Bf16)} : call.c.sums_step * int64_t{sizeof(float)};
  const int64_t next_bytes = (rounds ? sizeof(Bf16) : sizeof(float)) * kVectors * kLanes;
  int64_t rows_left = kRows;
  const Bf16* later = call.later;
  int64_t lines_left = call.later_lines;
  int64_t pairs = call.k / 2;
  for (; pairs >= kSteps; pairs -= kSteps) {
#pragma GCC unroll 4
    for (int s = 0; s < kSteps; ++s) step(word, s * kStep);
    advance(kSteps * kStep);
    if (rows_left-- > 0) {
      for (int64_t at = 0; at < next_bytes; at += 64) __builtin_prefetch(next + at, 1);
      __builtin_prefetch(next + next_bytes - 1, 1);
      next += next_row;
    } else if (lines_left > 0) {
      __builtin_prefetch(later, 0, 2);
      __builtin_prefetch(later + call.later_step, 0, 2);
      later += 2 * call.later_step;
      lines_left -= 2;
    }
  }
  for (; pairs > 0; --pairs) {
    step(word, 0);
    advance(kStep);
  }
  if (call.k % 2 != 0) {
    // In place the upper half of the word is the next row's or nobody's.
    step(
        [&](const char* from) {
          if (kPacked) return word(from);
          uint16_t value;
          std::memcpy(&value, from, sizeof(value));
          return int32_t{value};
        },
        0);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) {
      StoreSums(call.c, i, v * kLanes, v == kVectors - 1 ? call.last : FirstLanes(kLanes),
                sums[i][v]);
    }
  }
}

using TileFunction = void (*)(const TileCall& call);

template <int kVectors, bool kPacked, int... kRows>
TileFunction TileOfRows(int64_t rows, std::integer_sequence<int, kRows...> /*all*/) {
  static constexpr TileFunction kTable[] = {Tile<kRows + 1, kVectors, kPacked>...};
  return kTable[rows - 1];
}

// Returns the micro-kernel for a tile of this many rows and vectors.
inline TileFunction FindTile(int64_t rows, int64_t vectors, bool packed) {
  constexpr auto kAll = std::make_integer_sequence<int, kTileRows>();
  switch (vectors) {
    case 1:
      return packed ? TileOfRows<1, true>(rows, kAll) : TileOfRows<1, false>(rows, kAll);
    case 2:
      return packed ? TileOfRows<2, true>(rows, kAll) : TileOfRows<2, false>(rows, kAll);
    default:
      return packed ? TileOfRows<3, true>(rows, kAll) : TileOfRows<3, false>(rows, kAll);
  }
}

}  // namespace bf16
}  // namespace stridewise
HWY_POP_ATTRIBUTES

#endif  // STRIDEWISE_MATMUL_CPU_BF16_TILE_INL_H_
