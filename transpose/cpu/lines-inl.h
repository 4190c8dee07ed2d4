// Transposes of blocks by squares: of at least a line of rows, or of fewer.
//
// Goes through 64 bytes of columns, down all rows, then the next: what is written is then one piece
// of the output where its rows have no gaps, and stays in the L1 cache until its lines are whole.
// The last squares begin where they end with the block, and compute some elements twice.
//
// Loops go over copies of what describes the block, and call nothing that has its address: stores
// of bytes could change what is behind a reference, whose members would be loaded again after each.
// Few columns of elements of 8 and 16 bytes took up to twice as long so on one core of a Zen 4.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_LINES_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_LINES_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_LINES_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "transpose/cpu/block.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Of the columns of a block that has few: two lines.
inline constexpr int64_t kFewBytes = 128;

// Fetches `bytes` of each row of a line of them.
template <int kBytes>
HWY_INLINE void FetchRows(const uint8_t* from, int64_t ld, int64_t bytes) {
  for (int64_t byte = 0; byte < bytes; byte += kLineBytes) {
    for (int64_t i = 0; i < kLineBytes / kBytes; ++i) __builtin_prefetch(from + i * ld + byte);
  }
}

// Fetches for writing what is `ahead` bytes behind `to` in each of some rows of the output, if any.
HWY_INLINE void FetchColumns(const uint8_t* to, int64_t ld, int64_t ahead, int64_t cols) {
  if (ahead <= 0) return;
  for (int64_t i = 0; i < cols; ++i) __builtin_prefetch(to + i * ld + ahead, /*for writing*/ 1);
}

// Transposes a line of rows by `cols` columns, a square's or more.
template <int kBytes>
HWY_INLINE void TransposeLine(const uint8_t* from, int64_t ld_in, int64_t cols, uint8_t* to,
                              int64_t ld_out) {
  constexpr int64_t kSide = 16 / kBytes;
  int64_t at = 0;
  for (; kHasPairs<kBytes> && at + 2 * kSide <= cols; at += 2 * kSide) {
    TransposePair<kBytes>(from + at * kBytes, ld_in, to + at * ld_out, ld_out);
  }
  for (; at < cols; at += kSide) {
    const int64_t col = std::min(at, cols - kSide);
    TransposeGroup<kBytes>(from + col * kBytes, ld_in, to + col * ld_out, ld_out);
  }
}

// Transposes blocks of at least a line of rows and of columns, by lines that are copied to a block
// first.
template <int kBytes>
void TransposeStagedLines(const BlockTranspose b) {
  constexpr int64_t kLine = kLineBytes / kBytes;
  alignas(64) uint8_t staged[kLine * kLineBytes];
  const int64_t lines = (b.rows + kLine - 1) / kLine;
  const int64_t pieces = (b.cols + kLine - 1) / kLine;
  for (int64_t i = 0; i < lines * pieces; ++i) {
    const int64_t line = b.along_rows ? i / pieces : i % lines;
    const int64_t piece = b.along_rows ? i % pieces : i / lines;
    const int64_t row = std::min(line * kLine, b.rows - kLine);
    const int64_t col = std::min(piece * kLine, b.cols - kLine);
    const uint8_t* const from = b.in + row * b.ld_in + col * kBytes;
    uint8_t* const to = b.out + row * kBytes + col * b.ld_out;
    if (b.ahead > 0) FetchRows<kBytes>(from + b.ahead, b.ld_in, kLineBytes);
    FetchColumns(to, b.ld_out, b.ahead_out, kLine);
    for (int64_t k = 0; k < kLine; ++k) CopyLine(from + k * b.ld_in, staged + k * kLineBytes);
    TransposeLine<kBytes>(staged, kLineBytes, kLine, to, b.ld_out);
  }
}

// Transposes few columns, a square's or more, of at least a line of rows: an inner loop that needs
// no registers but those of a line.
template <int kBytes>
void TransposeFewColumns(const BlockTranspose& b) {
  constexpr int64_t kLine = kLineBytes / kBytes;
  const uint8_t* const in = b.in;
  uint8_t* const out = b.out;
  const int64_t ld_in = b.ld_in;
  const int64_t ld_out = b.ld_out;
  const int64_t rows = b.rows;
  const int64_t cols = b.cols;
  const int64_t ahead = b.ahead_out;
  for (int64_t line = 0; line < rows; line += kLine) {
    const int64_t row = std::min(line, rows - kLine);
    uint8_t* const to = out + row * kBytes;
    FetchColumns(to, ld_out, ahead, cols);
    TransposeLine<kBytes>(in + row * ld_in, ld_in, cols, to, ld_out);
  }
}

// Transposes blocks of at least a line of rows and a square's columns.
template <int kBytes>
void TransposeLines(const BlockTranspose b) {
  constexpr int64_t kSide = 16 / kBytes;
  constexpr int64_t kLine = kLineBytes / kBytes;
  // Rows whose distance is a multiple of 1 KB share a few sets of the L1 cache: their lines are
  // copied to a block, or each would be fetched once for each square.
  if (b.ld_in % 1024 == 0 && b.cols >= kLine) return TransposeStagedLines<kBytes>(b);
  const int64_t width = b.along_rows ? b.cols : kLine;
  if (b.cols <= width && b.cols * kBytes <= kFewBytes && b.ahead == 0) {
    return TransposeFewColumns<kBytes>(b);
  }
  for (int64_t piece = 0; piece < b.cols; piece += width) {
    const int64_t col = std::min(piece, b.cols - kSide);
    const int64_t cols = std::min(width, b.cols - col);
    for (int64_t line = 0; line < b.rows; line += kLine) {
      const int64_t row = std::min(line, b.rows - kLine);
      const uint8_t* const from = b.in + row * b.ld_in + col * kBytes;
      uint8_t* const to = b.out + row * kBytes + col * b.ld_out;
      if (b.ahead > 0) FetchRows<kBytes>(from + b.ahead, b.ld_in, cols * kBytes);
      FetchColumns(to, b.ld_out, b.ahead_out, cols);
      TransposeLine<kBytes>(from, b.ld_in, cols, to, b.ld_out);
    }
  }
}

// Transposes blocks of a square's rows and columns or more, and less than a line of rows. Goes
// through all rows of a line of columns, then the next line: what their columns share lines in then
// stays in the L1 cache. Bytes of 33x15777 took 1.23 times as long a square's rows after the other.
template <int kBytes>
void TransposeStrips(const BlockTranspose b) {
  constexpr int64_t kSide = 16 / kBytes;
  constexpr int64_t kLine = kLineBytes / kBytes;
  alignas(64) uint8_t padded[kSide * kLineBytes];
  alignas(64) uint8_t result[kLine * 16];
  for (int64_t piece = 0; piece < b.cols; piece += kLine) {
    const int64_t col = std::max<int64_t>(std::min(piece, b.cols - kLine), 0);
    for (int64_t at = 0; at < b.rows; at += kSide) {
      const int64_t row = std::min(at, b.rows - kSide);
      const uint8_t* const from = b.in + row * b.ld_in + col * kBytes;
      uint8_t* const to = b.out + row * kBytes + col * b.ld_out;
      if (b.cols < kLine) {
        for (int64_t i = 0; i < kSide; ++i) {
          std::memcpy(padded + i * kLineBytes, from + i * b.ld_in,
                      static_cast<size_t>(b.cols * kBytes));
        }
        TransposeStrip<kBytes>(padded, kLineBytes, result, 16);
        for (int64_t i = 0; i < b.cols; ++i) std::memcpy(to + i * b.ld_out, result + i * 16, 16);
        continue;
      }
      for (int64_t i = 0; b.ahead > 0 && i < kSide; ++i)
        __builtin_prefetch(from + i * b.ld_in + b.ahead);
      TransposeStrip<kBytes>(from, b.ld_in, to, b.ld_out);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_LINES_INL_H_
