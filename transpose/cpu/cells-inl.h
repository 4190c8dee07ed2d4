// Transposes of five to eight rows or columns without gaps, by cells of 8 bytes of each, for
// processors with AVX-512 VBMI.
//
// A cell is 8 bytes of each row, or the same elements as rows: at most a cache line, whose bytes
// one permutation puts in order. Blocks of 16 bytes of rows become two cells in one round of
// interleaving, where rows alone would take three and permutations besides (thin-inl.h).
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_CELLS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_CELLS_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_CELLS_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_CELLS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "hwy/highway.h"
#include "transpose/cpu/block.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR

#define STRIDEWISE_VBMI __attribute__((target("avx512vbmi")))

inline bool HasVbmi() {
  static const bool has = __builtin_cpu_supports("avx512vbmi") != 0;
  return has;
}

// Shorter cells are less of a line, which each writes or reads: two and three rows lose.
inline constexpr int kLeastThin = 5;
inline constexpr int kMostThin = 8;

// Bytes of the long side, of which the last are left to others: many matrices of 70 bytes a row took
// twice as long by cells.
inline constexpr int64_t kLeastLong = 1024;

template <int kBytes>
HWY_INLINE bool TakesCells(const BlockTranspose& b) {
  const int64_t thin = std::min(b.rows, b.cols);
  return kBytes <= 4 && thin >= kLeastThin && thin <= kMostThin &&
         std::max(b.rows, b.cols) * kBytes >= kLeastLong && HasVbmi();
}

template <int kBytes, int kThin>
struct Cells {
  static constexpr int kOfRow = 8;              // Bytes of each long side's row.
  static constexpr int kCell = kThin * kOfRow;  // Bytes.
  static constexpr int kLine = kLineBytes / kBytes;

  struct alignas(64) Table {
    std::array<uint8_t, 64> bytes;
  };
  // Where the bytes of a cell come from, for kThin elements of each column one after the other.
  static constexpr Table ByColumns() {
    Table table = {};
    for (int i = 0; i < kCell; ++i) {
      const int element = i / kBytes;
      table.bytes[i] =
          static_cast<uint8_t>(element % kThin * kOfRow + element / kThin * kBytes + i % kBytes);
    }
    return table;
  }
  // The reverse.
  static constexpr Table ByRows() {
    Table table = {};
    for (int i = 0; i < kCell; ++i) {
      const int element = i % kOfRow / kBytes;
      table.bytes[i] = static_cast<uint8_t>((element * kThin + i / kOfRow) * kBytes + i % kBytes);
    }
    return table;
  }
};

// Loads 16 bytes of four rows; the last may be one of them again.
HWY_INLINE __m512i LoadFourRows(const uint8_t* a, const uint8_t* b, const uint8_t* c,
                                const uint8_t* d) {
  const auto load = [](const uint8_t* from) HWY_ATTR {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  };
  __m512i rows = _mm512_castsi128_si512(load(a));
  rows = _mm512_mask_broadcast_i64x2(rows, 0x0c, load(b));
  rows = _mm512_mask_broadcast_i64x2(rows, 0x30, load(c));
  return _mm512_mask_broadcast_i64x2(rows, 0xc0, load(d));
}

// Transposes kThin rows to columns without gaps, 16 bytes of each at once, and returns of how many
// columns. Leaves some, since it writes up to a line behind each cell.
template <int kBytes, int kThin>
STRIDEWISE_VBMI int64_t InterleaveCells(const uint8_t* from, int64_t ld, int64_t cols,
                                        uint8_t* to) {
  using Of = Cells<kBytes, kThin>;
  static constexpr typename Of::Table kTable = Of::ByColumns();
  const __m512i order = _mm512_load_si512(kTable.bytes.data());
  const uint8_t* rows[kMostThin];
  for (int i = 0; i < kMostThin; ++i) rows[i] = from + std::min(i, kThin - 1) * ld;
  int64_t at = 0;
  for (; at + 32 <= cols * kBytes; at += 16, to += 2 * Of::kCell) {
    const __m512i even = LoadFourRows(rows[0] + at, rows[2] + at, rows[4] + at, rows[6] + at);
    const __m512i odd = LoadFourRows(rows[1] + at, rows[3] + at, rows[5] + at, rows[7] + at);
    const __m512i first = _mm512_unpacklo_epi64(even, odd);
    const __m512i second = _mm512_unpackhi_epi64(even, odd);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi8(order, first));
    _mm512_storeu_si512(to + Of::kCell, _mm512_permutexvar_epi8(order, second));
  }
  return at / kBytes;
}

// Stores rows first, first + 2 and so on, of which each of four vectors has 16 bytes a row.
template <int kThin>
HWY_INLINE void StoreEveryOther(const __m512i (&v)[4], int first, uint8_t* to, int64_t ld) {
  const __m512i a = _mm512_shuffle_i64x2(v[0], v[1], 0x44);
  const __m512i b = _mm512_shuffle_i64x2(v[2], v[3], 0x44);
  _mm512_storeu_si512(to + first * ld, _mm512_shuffle_i64x2(a, b, 0x88));
  _mm512_storeu_si512(to + (first + 2) * ld, _mm512_shuffle_i64x2(a, b, 0xdd));
  const __m512i c = _mm512_shuffle_i64x2(v[0], v[1], 0xee);
  const __m512i d = _mm512_shuffle_i64x2(v[2], v[3], 0xee);
  if (first + 4 < kThin) {
    _mm512_storeu_si512(to + (first + 4) * ld, _mm512_shuffle_i64x2(c, d, 0x88));
  }
  if (first + 6 < kThin) {
    _mm512_storeu_si512(to + (first + 6) * ld, _mm512_shuffle_i64x2(c, d, 0xdd));
  }
}

// Transposes rows of kThin elements without gaps, a line of each column at once, and returns how
// many rows. Leaves some, since it reads up to a line behind each cell.
template <int kBytes, int kThin>
STRIDEWISE_VBMI int64_t DeinterleaveCells(const uint8_t* from, int64_t rows, uint8_t* to,
                                          int64_t ld) {
  using Of = Cells<kBytes, kThin>;
  static constexpr typename Of::Table kTable = Of::ByRows();
  const __m512i order = _mm512_load_si512(kTable.bytes.data());
  int64_t row = 0;
  for (; row + 2 * Of::kLine <= rows; row += Of::kLine, to += kLineBytes) {
    __m512i even[4];
    __m512i odd[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i, from += 2 * Of::kCell) {
      const __m512i first = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from));
      const __m512i second = _mm512_permutexvar_epi8(order, _mm512_loadu_si512(from + Of::kCell));
      even[i] = _mm512_unpacklo_epi64(first, second);
      odd[i] = _mm512_unpackhi_epi64(first, second);
    }
    StoreEveryOther<kThin>(even, 0, to, ld);
    StoreEveryOther<kThin>(odd, 1, to, ld);
  }
  return row;
}

// Transposes most of a block of kThin or more rows or columns, and takes it off.
template <int kBytes, int kThin = kLeastThin>
void TransposeCells(BlockTranspose* b) {
  if constexpr (kThin <= kMostThin && kBytes <= 4) {
    if (b->rows == kThin && b->ld_out == kThin * kBytes) {
      const int64_t cols = InterleaveCells<kBytes, kThin>(b->in, b->ld_in, b->cols, b->out);
      b->in += cols * kBytes;
      b->out += cols * b->ld_out;
      b->cols -= cols;
    } else if (b->cols == kThin && b->ld_in == kThin * kBytes) {
      const int64_t rows = DeinterleaveCells<kBytes, kThin>(b->in, b->rows, b->out, b->ld_out);
      b->in += rows * b->ld_in;
      b->out += rows * kBytes;
      b->rows -= rows;
    } else {
      TransposeCells<kBytes, kThin + 1>(b);
    }
  }
}

#undef STRIDEWISE_VBMI

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_CELLS_INL_H_
