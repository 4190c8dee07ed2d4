// The transpose of tiles with streaming stores, for one instruction set.
//
// A tile is some rows, read side by side, by a page or a part of one of columns (ShapeOfTiles()).
// The next tile is fetched meanwhile, some rows at a time, because the hardware's prefetching
// follows 32 rows at most. Inside a tile one line of each row, or a few, is copied to a
// block (rows whose distance is a power of two are in one set of the L1 cache), transposed into
// whole lines of the output, and these are stored past the caches.
//
// Rows of the output may begin anywhere in a line: a tile then writes up to the last whole line,
// and the last line of each row is kept for the next tile. The first tile of a thread has no such
// lines, and computes them from the rows before it.
//
// Included once for each instruction set.

// NOLINTNEXTLINE(llvm-header-guard)
#if defined(STRIDEWISE_TRANSPOSE_CPU_STREAMED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRIDEWISE_TRANSPOSE_CPU_STREAMED_INL_H_
#undef STRIDEWISE_TRANSPOSE_CPU_STREAMED_INL_H_
#else
#define STRIDEWISE_TRANSPOSE_CPU_STREAMED_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "transpose/cpu/streamed.h"
#include "transpose/cpu/streamed_tiles.h"
#include "transpose/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {

// Copies bytes of rows to a block whose rows are `pitch` bytes apart. Of fewer than kMost bytes it
// copies more, from what follows in the matrix up to `end`: the number of bytes is then known when
// this is compiled.
template <int64_t kMost, int64_t kPitch>
HWY_INLINE void StageRows(const uint8_t* from, int64_t ld, int64_t rows, int64_t bytes,
                          const uint8_t* end, uint8_t* to) {
  int64_t i = 0;
  for (; i < rows && (bytes == kMost || end - (from + i * ld) >= kMost); ++i) {
#pragma GCC unroll 16
    for (int64_t b = 0; b < kMost; b += kBlocks * 16) {
      Store(Load(from + i * ld + b), to + i * kPitch + b);
    }
  }
  for (; i < rows; ++i) std::memcpy(to + i * kPitch, from + i * ld, static_cast<size_t>(bytes));
}

// How tiles of kLines lines are gone through. Elements of one and two bytes have more rows in a
// tile; those that are fetched side by side stay few enough for the hardware.
template <int kBytes, StreamedTiling kTiling, int kLines>
struct StreamedOrder {
  // Rows of the next tile that are fetched side by side meanwhile.
  static constexpr int64_t kRowsAtOnce = kBytes <= 2 ? 8 : 2;
  // Bytes of a row that are copied to the block at once: with two lines, rows of the output are
  // gone through half as often.
  static constexpr int64_t kStaged = (kBytes <= 2 && kLines > 2 ? 1 : 2) * kLineBytes;
};

// Of an EPYC (Zen 5). Lines whose distance is a multiple of a page come from the L2 cache to the L1
// cache in 7 cycles each; in 2 where several of a row follow each other. Fetches that do not find
// room among those under way are lost or hold up what follows, so they are spread.
template <int kBytes, int kLines>
struct StreamedOrder<kBytes, StreamedTiling::kAmd, kLines> {
  static constexpr int64_t kRowsAtOnce = 2;
  static constexpr int64_t kStaged = (kBytes == 1 ? 2 : 4) * kLineBytes;
};

template <int kBytes, StreamedTiling kTiling, int kTileLines>
void TransposeTilesOf(const StreamedTranspose& matrix, int64_t first, int64_t end) {
  using Order = StreamedOrder<kBytes, kTiling, kTileLines>;
  using Fetcher = TileFetcher<kTiling, Order::kRowsAtOnce>;
  constexpr int64_t kLine = kLineBytes / kBytes;
  // Bytes of a row that are taken at once. Shorter elements have more rows, and lose.
  constexpr bool kPairs = kHasPairs<kBytes> && kBytes == 16;
  constexpr int64_t kGroup = kPairs ? 32 : 16;
  constexpr int64_t kCols = kGroup / kBytes;
  constexpr int64_t kLines = kTileLines + 1;  // The first is that of the tile before.
  // One more line than is copied, so that the rows of a column are in all sets of the L1 cache.
  constexpr int64_t kPitch = Order::kStaged + (Order::kStaged > kLineBytes ? kLineBytes : 0);
  const StreamedTiles tiles(matrix);
  const uint8_t* const end_in =
      matrix.in + (matrix.rows - 1) * matrix.ld_in + matrix.cols * matrix.element_bytes;
  alignas(64) uint8_t rows[kLines * kLine * kPitch] = {};
  alignas(64) uint8_t lines[kCols * kLines * kLineBytes] = {};
  alignas(64) uint8_t last_lines[kMostTileWidth / kBytes * kLineBytes];  // Of each column.
  Fetcher(matrix, tiles[first]).FetchAll();
  for (int64_t index = first; index < end; ++index) {
    const StreamedTile tile = tiles[index];
    Fetcher next(matrix, index + 1 < end ? tiles[index + 1] : StreamedTile());
    const bool is_last = tile.row + tile.rows == matrix.rows;
    // The line before a tile is not there at its first row, and not needed if rows of the output
    // are aligned, since the tile before stored everything.
    const bool has_line = tile.row > 0 && !tiles.aligned();
    const int64_t skipped = has_line ? 1 : 0;
    const int64_t extra = has_line && index == first ? kLine : 0;
    const int64_t staged = extra + tile.rows;
    const int64_t filled = (staged + kLine - 1) / kLine;
    uint8_t* const filled_lines = lines + (extra > 0 ? 0 : skipped) * kLineBytes;
    for (int64_t at = 0; at < tile.bytes; at += Order::kStaged) {
      const int64_t bytes = std::min(Order::kStaged, tile.bytes - at);
      const uint8_t* from = matrix.in + (tile.row - extra) * matrix.ld_in + tile.byte + at;
      StageRows<Order::kStaged, kPitch>(from, matrix.ld_in, staged, bytes, end_in, rows);
      for (int64_t group = 0; group < bytes; group += kGroup) {
        for (int64_t line = 0; line < filled; ++line) {
          next.template Fetch<std::max<int64_t>(kLine * kGroup / 64, 1)>();
          const uint8_t* const of_rows = rows + line * kLine * kPitch + group;
          uint8_t* const of_columns = filled_lines + line * kLineBytes;
          if constexpr (kPairs) {
            TransposePair<kBytes>(of_rows, kPitch, of_columns, kLines * kLineBytes);
          } else {
            TransposeGroup<kBytes>(of_rows, kPitch, of_columns, kLines * kLineBytes);
          }
        }
        const int64_t col = (tile.byte + at + group) / kBytes;
        const int64_t cols = std::min(kCols, (bytes - group) / kBytes);
        uint8_t* last_line = last_lines + (at + group) / kBytes * kLineBytes;
        for (int64_t i = 0; i < cols; ++i, last_line += kLineBytes) {
          uint8_t* const line = lines + i * kLines * kLineBytes;
          uint8_t* const end_line = line + skipped * kLineBytes + tile.rows * kBytes;
          if (has_line && extra == 0) CopyLine(last_line, line);
          if (!tiles.aligned() && !is_last) CopyLine(end_line - kLineBytes, last_line);
          uint8_t* const to = matrix.out + (col + i) * matrix.ld_out + tile.row * kBytes;
          const auto misaligned =
              static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
          const int64_t before = has_line ? misaligned : 0;
          const int64_t left = is_last ? 0 : misaligned;
          StreamBytes(line + skipped * kLineBytes - before, to - before,
                      before + tile.rows * kBytes - left);
        }
      }
    }
  }
  hwy::FlushStream();
}

template <int kBytes>
void TransposeTilesOf(const StreamedTranspose& matrix, int64_t first, int64_t end) {
  if (matrix.tiling == StreamedTiling::kAmd) {
    TransposeTilesOf<kBytes, StreamedTiling::kAmd, 4>(matrix, first, end);
  } else if (ShapeOfTiles(matrix).lines == 2) {
    TransposeTilesOf<kBytes, StreamedTiling::kIntel, 2>(matrix, first, end);
  } else {
    TransposeTilesOf<kBytes, StreamedTiling::kIntel, 4>(matrix, first, end);
  }
}

void TransposeTiles(const StreamedTranspose& matrix, int64_t first, int64_t end) {
  switch (matrix.element_bytes) {
    case 1:
      return TransposeTilesOf<1>(matrix, first, end);
    case 2:
      return TransposeTilesOf<2>(matrix, first, end);
    case 4:
      return TransposeTilesOf<4>(matrix, first, end);
    case 8:
      return TransposeTilesOf<8>(matrix, first, end);
    default:
      return TransposeTilesOf<16>(matrix, first, end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stridewise
HWY_AFTER_NAMESPACE();

#endif  // STRIDEWISE_TRANSPOSE_CPU_STREAMED_INL_H_
