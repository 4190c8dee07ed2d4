// Transposes of many matrices of up to 512 bytes without gaps, one after the other, by permutations
// whose tables are made once, for processors with AVX-512 VBMI.
//
// A matrix, or as many as a line holds, is loaded to registers whole. Each line of its transpose is
// what one permutation takes from each pair of them, and the tables say which pair has a byte: no
// line is put together from parts of rows, whatever the shape. Squares in registers take two to
// four times as long, since most of their blocks are beyond a matrix' ends.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_TABLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_TABLES_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_TABLES_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_TABLES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "transpose/cpu/block.h"
#include "transpose/cpu/cells-inl.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR

#define STRIDEWISE_VBMI __attribute__((target("avx512vbmi")))

inline constexpr int kMostTableVectors = 8;
inline constexpr int64_t kMostTableBytes = kMostTableVectors * kLineBytes;

// Of all matrices together: a table takes as long to make as about this many bytes to transpose.
inline constexpr int64_t kLeastTabledBytes = 4096;

// Where the words of a unit's transpose come from; a unit is a matrix, or as many as a line holds.
// `from` numbers the words of any pair of vectors, and `of_pair` masks those that come from each
// pair behind the first.
struct UnitTables {
  alignas(64) uint8_t from[kMostTableVectors][kLineBytes];
  alignas(64) uint8_t of_pair[kMostTableVectors][kMostTableVectors / 2 - 1][kLineBytes];
  int64_t bytes;
  int vectors;
};

// Returns whether matrices are transposed by tables.
template <int kBytes>
HWY_INLINE bool TakesTables(int64_t rows, int64_t cols, int64_t count) {
  const int64_t bytes = rows * cols * kBytes;
  return rows > 1 && cols > 1 && bytes <= kMostTableBytes && bytes * count >= kLeastTabledBytes &&
         HasVbmi();
}

// Words are bytes, two of them or four: longer elements are several words.
template <int kBytes>
inline constexpr int kTableWord = kBytes < 4 ? kBytes : 4;

template <int kBytes>
void MakeTables(int64_t rows, int64_t cols, UnitTables* tables) {
  using Word = hwy::UnsignedFromSize<kTableWord<kBytes>>;
  constexpr int kWords = kLineBytes / sizeof(Word);  // Of a vector.
  constexpr int kOfElement = kBytes / sizeof(Word);
  const int64_t bytes = rows * cols * kBytes;
  const int64_t matrices = std::max<int64_t>(kLineBytes / bytes, 1);
  uint16_t source[kMostTableVectors * kWords] = {};
  uint16_t* next = source;
  for (int64_t i = 0; i < matrices; ++i) {
    for (int64_t col = 0; col < cols; ++col) {
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t element = i * rows * cols + row * cols + col;
        for (int w = 0; w < kOfElement; ++w) {
          *next++ = static_cast<uint16_t>(element * kOfElement + w);
        }
      }
    }
  }
  tables->bytes = bytes * matrices;
  tables->vectors = static_cast<int>((tables->bytes + kLineBytes - 1) / kLineBytes);
  for (int line = 0; line < tables->vectors; ++line) {
    const uint16_t* const of_line = source + line * kWords;
    Word words[kWords];
    for (int i = 0; i < kWords; ++i) words[i] = static_cast<Word>(of_line[i] % (2 * kWords));
    std::memcpy(tables->from[line], words, kLineBytes);
    for (int pair = 1; pair < (tables->vectors + 1) / 2; ++pair) {
      for (int i = 0; i < kWords; ++i) {
        words[i] = static_cast<Word>(of_line[i] / (2 * kWords) == pair ? ~Word{0} : Word{0});
      }
      std::memcpy(tables->of_pair[line][pair - 1], words, kLineBytes);
    }
  }
}

template <int kWord>
STRIDEWISE_VBMI inline __m512i PermuteTwo(__m512i a, __m512i order, __m512i b) {
  if constexpr (kWord == 1) return _mm512_permutex2var_epi8(a, order, b);
  if constexpr (kWord == 2) return _mm512_permutex2var_epi16(a, order, b);
  return _mm512_permutex2var_epi32(a, order, b);
}

// Reads and writes whole vectors.
template <int kWord, int kVectors>
STRIDEWISE_VBMI inline void PermuteUnit(const UnitTables& tables, const uint8_t* from,
                                        uint8_t* to) {
  __m512i v[kVectors + 1];
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) v[i] = _mm512_loadu_si512(from + i * kLineBytes);
  v[kVectors] = v[kVectors - 1];
#pragma GCC unroll 8
  for (int line = 0; line < kVectors; ++line) {
    const __m512i order = _mm512_load_si512(tables.from[line]);
    __m512i result = PermuteTwo<kWord>(v[0], order, v[1]);
#pragma GCC unroll 4
    for (int pair = 1; pair < (kVectors + 1) / 2; ++pair) {
      const __m512i mask = _mm512_load_si512(tables.of_pair[line][pair - 1]);
      const __m512i other = PermuteTwo<kWord>(v[2 * pair], order, v[2 * pair + 1]);
      constexpr int kSelect = 0xca;  // mask ? other : result
      result = _mm512_ternarylogic_epi64(mask, other, result, kSelect);
    }
    _mm512_storeu_si512(to + line * kLineBytes, result);
  }
}

// Transposes `bytes` of matrices. Vectors end behind a unit, where the next one is still to be
// written; the last units go through blocks on the stack.
template <int kWord, int kVectors = 1>
STRIDEWISE_VBMI void PermuteUnits(const UnitTables& tables, const uint8_t* from, uint8_t* to,
                                  int64_t bytes, int64_t ahead) {
  if constexpr (kVectors < kMostTableVectors) {
    if (kVectors != tables.vectors) {
      return PermuteUnits<kWord, kVectors + 1>(tables, from, to, bytes, ahead);
    }
  }
  constexpr int64_t kWhole = kVectors * kLineBytes;
  int64_t at = 0;
  for (; at + kWhole <= bytes; at += tables.bytes) {
    if (ahead > 0) {
      for (int i = 0; i < kVectors; ++i) __builtin_prefetch(from + at + ahead + i * kLineBytes);
    }
    PermuteUnit<kWord, kVectors>(tables, from + at, to + at);
  }
  alignas(64) uint8_t unit[kWhole] = {};
  alignas(64) uint8_t result[kWhole];
  for (; at < bytes; at += tables.bytes) {
    const auto left = static_cast<size_t>(std::min(tables.bytes, bytes - at));
    std::memcpy(unit, from + at, left);
    PermuteUnit<kWord, kVectors>(tables, unit, result);
    std::memcpy(to + at, result, left);
  }
}

// REQUIRES: TakesTables(), and no gaps.
template <int kBytes>
void TransposeByTables(const BlockTranspose& first, int64_t count) {
  UnitTables tables;
  MakeTables<kBytes>(first.rows, first.cols, &tables);
  PermuteUnits<kTableWord<kBytes>>(tables, first.in, first.out,
                                   first.rows * first.cols * kBytes * count, first.ahead);
}

#undef STRIDEWISE_VBMI

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_TABLES_INL_H_
