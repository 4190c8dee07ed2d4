// Transposes to short columns without gaps, which are written in order, for AVX-512.
//
// Columns of the result are one piece of memory. Each is stored in whole vectors, the last of which
// ends in the next column, to be written over by it: no line is put together from parts, and what
// lies where in a line does not matter. Doubles of 12x11 take a third of the time that blocks of
// whole lines take, whose last line of rows overlaps the one before.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_COLUMNS_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_COLUMNS_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_COLUMNS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "transpose/cpu/block.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3 && HWY_TARGET != HWY_SCALAR

// Lines of a column for which there are registers: 16 bytes of columns are one to 16 vectors for
// each.
template <int kBytes>
inline constexpr int kMostColumnLines = kBytes >= 8   ? 4
                                        : kBytes == 4 ? 2
                                                      : 1;

// Matrices of a batch up to this size are read where they lie: rows behind a matrix, which whole
// vectors have, are the next one's. Of others they would be read in vain.
inline constexpr int64_t kMostDirectBytes = 8192;

constexpr int64_t CeilOf(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor; }

// One of bytes is faster so only where it is read where it lies: else it took 1.1 to 1.8 times as
// long as by strips on 16 cores of a Xeon, since each group reads up to 64 rows by their addresses.
template <int kBytes>
HWY_INLINE bool TakesColumns(const BlockTranspose& b, int64_t count) {
  constexpr int64_t kSide = 16 / kBytes;
  const int64_t column = b.rows * kBytes;
  if (kBytes == 1 && (count == 1 || column * b.cols > kMostDirectBytes)) return false;
  return b.rows > kSide && b.cols > 1 && column <= kMostColumnLines<kBytes> * kLineBytes &&
         b.ld_out == column;
}

// Rows at equal distances, which are all there.
struct RowsAt {
  const uint8_t* from;
  int64_t ld;

  HWY_INLINE const uint8_t* operator[](int64_t row) const { return from + row * ld; }
};

// Some rows, and the last one again in place of those that are not there.
template <int kCount>
struct RowsAgain {
  const uint8_t* rows[kCount];
  int64_t at = 0;  // Bytes from their beginnings.

  RowsAgain(const uint8_t* from, int64_t ld, int64_t count) {
    for (int64_t i = 0; i < kCount; ++i) rows[i] = from + std::min(i, count - 1) * ld;
  }
  HWY_INLINE const uint8_t* operator[](int64_t row) const { return rows[row] + at; }
};

// Columns of 32 bytes at most: the vectors' lower halves have those of 16 bytes of a row, the upper
// halves the next ones.
struct HalfLine {
  static constexpr int kRows = 32;  // Bytes of rows that are read.
  static constexpr int kCols = 32;  // Bytes of columns at once.
};

// Columns of some lines.
template <int kCount>
struct Lines {
  static constexpr int kRows = kCount * kLineBytes;
  static constexpr int kCols = 16;
};

// Stores the first `cols` columns of a group.
template <int kBytes, class Rows>
HWY_INLINE void StoreGroup(HalfLine /*height*/, const Rows& rows, int64_t cols, uint8_t* to,
                           int64_t to_row) {
  constexpr int kSide = 16 / kBytes;
  const hn::Half<Bytes> half;
  // The left blocks of rows and of those kSide further down, then the right ones.
  const __m512i of_columns = _mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7);
  ByteVector v[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    v[i] = hn::Combine(Bytes(), hn::LoadU(half, rows[kSide + i]), hn::LoadU(half, rows[i]));
  }
  InterleaveHalves<kBytes, Log2(kSide)>(v);
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    v[i] = ByteVector{_mm512_permutexvar_epi64(of_columns, v[i].raw)};
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i, to += to_row) {
    if (i < cols) hn::StoreU(hn::LowerHalf(half, v[i]), half, to);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i, to += to_row) {
    if (kSide + i < cols) hn::StoreU(hn::UpperHalf(half, v[i]), half, to);
  }
}

template <int kBytes, int kCount, class Rows>
HWY_INLINE void StoreGroup(Lines<kCount> /*height*/, const Rows& rows, int64_t cols, uint8_t* to,
                           int64_t to_row) {
  constexpr int kSide = 16 / kBytes;
  constexpr int kLine = kLineBytes / kBytes;
  ByteVector v[kCount][kSide];
#pragma GCC unroll 4
  for (int line = 0; line < kCount; ++line) {
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
      const int row = line * kLine + i;
      v[line][i] = LoadFourBlocks(rows[row], rows[row + kSide], rows[row + 2 * kSide],
                                  rows[row + 3 * kSide]);
    }
    InterleaveHalves<kBytes, Log2(kSide)>(v[line]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i, to += to_row) {
    if (i >= cols) break;
#pragma GCC unroll 4
    for (int line = 0; line < kCount; ++line) Store(v[line][i], to + line * kLineBytes);
  }
}

// Transposes matrices of a batch but for the last ones where they lie. Reads rows up to the
// height's, and up to 32 bytes behind the end of each; writes up to a line behind the last column.
template <int kBytes, class Height>
HWY_INLINE void TransposeDirectly(const uint8_t* from, int64_t ld, int64_t cols, uint8_t* to,
                                  int64_t to_row) {
  constexpr int64_t kCols = Height::kCols / kBytes;
  int64_t col = 0;
  for (; col + kCols <= cols; col += kCols, from += Height::kCols, to += kCols * to_row) {
    StoreGroup<kBytes>(Height(), RowsAt{from, ld}, kCols, to, to_row);
  }
  if (col < cols) StoreGroup<kBytes>(Height(), RowsAt{from, ld}, cols - col, to, to_row);
}

// Transposes a block, and reads and writes nothing else: the last columns go through blocks on the
// stack.
template <int kBytes, class Height>
void TransposeAlone(const BlockTranspose& b) {
  constexpr int64_t kRows = Height::kRows / kBytes;
  constexpr int64_t kCols = Height::kCols / kBytes;
  // What is written behind a column is less than a line.
  const int64_t behind = CeilOf(kLineBytes, b.ld_out);
  const int64_t safe = std::max<int64_t>(b.cols - behind, 0) / kCols * kCols;
  RowsAgain<kRows> rows(b.in, b.ld_in, b.rows);
  uint8_t* to = b.out;
  for (; rows.at < safe * kBytes; rows.at += Height::kCols, to += kCols * b.ld_out) {
    if (b.ahead > 0 && rows.at % kLineBytes == 0) {
      for (int64_t i = 0; i < b.rows; ++i) __builtin_prefetch(rows[i] + b.ahead);
    }
    StoreGroup<kBytes>(Height(), rows, kCols, to, b.ld_out);
  }
  constexpr int64_t kWidth = 4 * kLineBytes;
  uint8_t last_rows[kRows * kWidth];
  uint8_t last[kWidth / kBytes * Height::kRows + kLineBytes];
  const int64_t cols = b.cols - safe;
  for (int64_t i = 0; i < kRows; ++i) {
    std::memcpy(last_rows + i * kWidth, rows[i], static_cast<size_t>(cols * kBytes));
  }
  TransposeDirectly<kBytes, Height>(last_rows, kWidth, cols, last, b.ld_out);
  std::memcpy(to, last, static_cast<size_t>(cols * b.ld_out));
}

// Transposes `count` matrices without gaps, one after the other.
template <int kBytes, class Height>
void TransposeInOrder(BlockTranspose b, int64_t count) {
  const int64_t bytes = b.rows * b.cols * kBytes;
  // Bytes of rows behind a matrix that are read, and of a column that are written.
  const int64_t behind = std::max(Height::kRows / kBytes * b.ld_in + 32 - bytes, kLineBytes);
  const int64_t alone = bytes <= kMostDirectBytes ? std::min(count, CeilOf(behind, bytes)) : count;
  for (int64_t i = 0; i < count; ++i, b.in += bytes, b.out += bytes) {
    if (i >= count - alone) {
      TransposeAlone<kBytes, Height>(b);
      continue;
    }
    if (b.ahead > 0) {
      for (int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(b.in + b.ahead + at);
    }
    TransposeDirectly<kBytes, Height>(b.in, b.ld_in, b.cols, b.out, b.ld_out);
  }
}

template <int kBytes, int kCount = 1>
void TransposeToLines(const BlockTranspose& b, int64_t count) {
  if constexpr (kCount < kMostColumnLines<kBytes>) {
    if (b.rows * kBytes > kCount * kLineBytes) {
      return TransposeToLines<kBytes, kCount + 1>(b, count);
    }
  }
  TransposeInOrder<kBytes, Lines<kCount>>(b, count);
}

// REQUIRES: TakesColumns(), and several have no gaps.
template <int kBytes>
void TransposeToColumns(const BlockTranspose& b, int64_t count) {
  if (kBytes < 16 && b.rows * kBytes <= HalfLine::kRows) {
    return TransposeInOrder<kBytes, HalfLine>(b, count);
  }
  TransposeToLines<kBytes>(b, count);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_COLUMNS_INL_H_
