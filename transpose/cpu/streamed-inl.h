// The transpose of tiles with streaming stores, for one instruction set.
//
// A tile is some rows, read side by side, by a page or a part of one of columns (ShapeOfTiles()).
// Elements of 2 and 4 bytes fetch the next tile to the L2 cache meanwhile, eight rows at a time,
// because the hardware's prefetching follows 32 rows at most; of others a tile has fewer rows, or
// too many. Inside a tile one line of each row is copied to a block (rows whose distance is a power
// of two are in one set of the L1 cache), transposed into whole lines of the output, and these are
// stored past the caches.
//
// Rows of the output may begin anywhere in a line: a tile then writes up to the last whole line,
// and the next tile computes the remainder once more from the rows before it.
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
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/streamed.h"
#include "transpose/cpu/streamed_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace stridewise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Highway's baseline has no vectors; the compiler's are those of every processor.
constexpr int kBlocks = 1;  // Of 16 bytes in a vector.

HWY_INLINE void CopyVector(const uint8_t* from, uint8_t* to) {
  StoreVector<false>(LoadVector(from), to);
}
HWY_INLINE void StreamVector(const uint8_t* from, uint8_t* to) {
  StoreVector<true>(LoadVector(from), to);
}

template <int kBytes>
HWY_INLINE void TransposeGroup(const uint8_t* from, uint8_t* to, int64_t to_row) {
  using T =
      std::conditional_t<kBytes == 16, Vector16, hwy::UnsignedFromSize<kBytes == 16 ? 8 : kBytes>>;
  constexpr int kSide = 16 / kBytes;
  for (int part = 0; part < 4; ++part) {
    Vector16 v[kSide];
    for (int i = 0; i < kSide; ++i) v[i] = LoadVector(from + (part * kSide + i) * kLineBytes);
    TransposeVectors<T>(v);
    for (int i = 0; i < kSide; ++i) StoreVector<false>(v[i], to + i * to_row + part * 16);
  }
}

#else

using Bytes = hn::CappedTag<uint8_t, kLineBytes>;
using ByteVector = hn::Vec<Bytes>;
constexpr int kBlocks = static_cast<int>(hn::MaxLanes(Bytes())) / 16;  // Of 16 bytes in a vector.

HWY_INLINE void CopyVector(const uint8_t* from, uint8_t* to) {
  const Bytes d;
  hn::StoreU(hn::LoadU(d, from), d, to);
}

HWY_INLINE void StreamVector(const uint8_t* from, uint8_t* to) {
  const Bytes d;
  hn::Stream(hn::LoadU(d, from), d, to);
}

// Loads blocks of 16 bytes, `step` bytes apart, to one vector.
HWY_INLINE ByteVector LoadBlocks(const uint8_t* from, int64_t step) {
  const hn::Full128<uint8_t> block;
#if HWY_TARGET <= HWY_AVX2
  const hn::Full256<uint8_t> two;
  const auto lower = hn::Combine(two, hn::LoadU(block, from + step), hn::LoadU(block, from));
#if HWY_TARGET <= HWY_AVX3
  const auto upper =
      hn::Combine(two, hn::LoadU(block, from + 3 * step), hn::LoadU(block, from + 2 * step));
  return hn::Combine(hn::Full512<uint8_t>(), upper, lower);
#else
  return lower;
#endif
#else
  static_cast<void>(step);
  return hn::LoadU(block, from);
#endif
}

// Transposes one line of rows by 16 bytes of columns: `from` has rows of kLineBytes bytes, `to`
// begins each column, `to_row` bytes apart.
template <int kBytes>
HWY_INLINE void TransposeGroup(const uint8_t* from, uint8_t* to, int64_t to_row) {
  constexpr int kSide = 16 / kBytes;  // Of the squares in the blocks of a vector.
  const Bytes d;
  for (int part = 0; part < 4; part += kBlocks) {
    ByteVector v[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) {
      v[i] = LoadBlocks(from + (part * kSide + i) * kLineBytes, kSide * kLineBytes);
    }
    if constexpr (kSide > 1) {
      const hn::Repartition<hwy::UnsignedFromSize<kBytes>, Bytes> elements;
#pragma GCC unroll 4
      for (int round = 1; round < kSide; round *= 2) {
        ByteVector next[kSide];
#pragma GCC unroll 8
        for (int i = 0; i < kSide / 2; ++i) {
          const auto a = hn::BitCast(elements, v[i]);
          const auto b = hn::BitCast(elements, v[i + kSide / 2]);
          next[2 * i] = hn::BitCast(d, hn::InterleaveLower(elements, a, b));
          next[2 * i + 1] = hn::BitCast(d, hn::InterleaveUpper(elements, a, b));
        }
#pragma GCC unroll 16
        for (int i = 0; i < kSide; ++i) v[i] = next[i];
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + i * to_row + part * 16);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

// Copies bytes, whole lines of the destination past the caches.
HWY_INLINE void StreamBytes(const uint8_t* from, uint8_t* to, int64_t bytes) {
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  if (misaligned != 0) {
    const int64_t head = std::min(bytes, kLineBytes - misaligned);
    std::memcpy(to, from, static_cast<size_t>(head));
    from += head;
    to += head;
    bytes -= head;
  }
  for (; bytes >= kLineBytes; bytes -= kLineBytes, from += kLineBytes, to += kLineBytes) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i += kBlocks) StreamVector(from + i * 16, to + i * 16);
  }
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

template <int kBytes, int kTileLines>
void TransposeTilesOf(const StreamedTranspose& matrix, int64_t first, int64_t end) {
  constexpr bool kFetches = kBytes == 2 || kBytes == 4;
  constexpr int64_t kLine = kLineBytes / kBytes;
  constexpr int64_t kSide = 16 / kBytes;
  constexpr int64_t kLines = kTileLines + 1;  // One for the remainder of the tile before.
  const StreamedTiles tiles(matrix);
  alignas(64) uint8_t rows[kLines * kLine * kLineBytes] = {};
  alignas(64) uint8_t lines[kSide * kLines * kLineBytes] = {};
  if (kFetches) TileFetcher(matrix, tiles[first]).Fetch(tiles.width() * kTileLines * kLine);
  for (int64_t index = first; index < end; ++index) {
    const StreamedTile tile = tiles[index];
    TileFetcher next(matrix, index + 1 < end ? tiles[index + 1] : StreamedTile());
    const bool is_last = tile.row + tile.rows == matrix.rows;
    // The rows before, for the remainder of the tile before; it stored everything if rows of the
    // output are aligned.
    const int64_t extra = tile.row > 0 && !tiles.aligned() ? kLine : 0;
    const int64_t staged = extra + tile.rows;
    const int64_t filled = (staged + kLine - 1) / kLine;
    for (int64_t at = 0; at < tile.bytes; at += kLineBytes) {
      const int64_t bytes = std::min(kLineBytes, tile.bytes - at);
      const uint8_t* from = matrix.in + (tile.row - extra) * matrix.ld_in + tile.byte + at;
      if (bytes == kLineBytes) {
        for (int64_t i = 0; i < staged; ++i) {
#pragma GCC unroll 4
          for (int b = 0; b < 64; b += kBlocks * 16) {
            CopyVector(from + i * matrix.ld_in + b, rows + i * kLineBytes + b);
          }
        }
      } else {
        for (int64_t i = 0; i < staged; ++i) {
          std::memcpy(rows + i * kLineBytes, from + i * matrix.ld_in, static_cast<size_t>(bytes));
        }
      }
      for (int64_t group = 0; group < bytes; group += 16) {
        if (kFetches) next.Fetch(kTileLines * kLine / 4);
        for (int64_t line = 0; line < filled; ++line) {
          TransposeGroup<kBytes>(rows + line * kLine * kLineBytes + group,
                                 lines + line * kLineBytes, kLines * kLineBytes);
        }
        const int64_t col = (tile.byte + at + group) / kBytes;
        const int64_t cols = std::min(kSide, (bytes - group) / kBytes);
        for (int64_t i = 0; i < cols; ++i) {
          uint8_t* const to = matrix.out + (col + i) * matrix.ld_out + tile.row * kBytes;
          const auto misaligned =
              static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLineBytes);
          const int64_t begin = extra == 0 ? 0 : -misaligned;
          const int64_t stop = tile.rows * kBytes - (is_last ? 0 : misaligned);
          StreamBytes(lines + (i * kLines) * kLineBytes + extra * kBytes + begin, to + begin,
                      stop - begin);
        }
      }
    }
  }
  hwy::FlushStream();
}

template <int kBytes>
void TransposeTilesOf(const StreamedTranspose& matrix, int64_t first, int64_t end) {
  if constexpr (kBytes == 1) {
    TransposeTilesOf<kBytes, 4>(matrix, first, end);
  } else if (ShapeOfTiles(matrix).lines == 8) {
    TransposeTilesOf<kBytes, 8>(matrix, first, end);
  } else {
    TransposeTilesOf<kBytes, 2>(matrix, first, end);
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
