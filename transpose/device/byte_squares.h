// Exchanges rows and columns of a tile of elements of 1 or 2 bytes in shared memory. Included by
// .cu files.
//
// The tile lies twice in shared memory: as rows of `in`, each at the same offset from a multiple of
// 16 as in global memory, and as rows of `out`, for which the same is true. So both are moved in
// whole vectors, whatever the alignment, and what remains is done in words: a thread goes down four
// columns of bytes (two of 2 bytes), shifts a word of each of four rows out of two, exchanges 4 x 4
// bytes by byte permutes, shifts each column's word to where it lies in its row of `out`, together
// with the word above it, and stores it. Four rows below, all shifts are the same. What is above
// the first word of a column is the end of the column before it, behind which it lies in `out`.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_BYTE_SQUARES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_BYTE_SQUARES_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

inline constexpr int kWordBytes = 4;

// The side of a square.
template <typename T>
inline constexpr int kSquare = kWordBytes / static_cast<int>(sizeof(T));

// How threads share a tile: runs of rows of groups of columns.
struct SquareItems {
  int groups = 1;  // Of kSquare columns.
  int segments = 1;
  int segment_rows = 1;                        // A multiple of kSquare.
  SmallDivisor by_groups = SmallDivisor(1);    // Divides by `groups`,
  SmallDivisor by_segments = SmallDivisor(1);  // and by `segments`.
  int log2 = 0;                                // See SpreadOffset(); 0: not at all.
};

// How warps share a tile whose columns begin at words.
inline constexpr int kLanesOfWarp = 32;
struct WarpSquares {
  int log2_across = 0;  // Of the groups of columns that a warp takes.
  int across = 0;       // Warps beside each other,
  int below = 0;        // and below each other, in a matrix.
  int log2_spread = 0;  // As SquareItems::log2.
  SmallDivisor by_across = SmallDivisor(1);
  SmallDivisor by_below = SmallDivisor(1);
};

// A tile, or whole matrices one behind the other. Offsets are in bytes.
struct SquareTile {
  int in;        // Of the element in row 0 and column 0.
  int in_pitch;  // From one row of `in` to the next.
  int out;       // The same for `out`.
  int out_pitch;
  int rows;
  int cols;
  int matrices;      // How many,
  int matrix_bytes;  // and from one to the next, on both sides.
};

// Where a byte of `out` lies. Neighbouring groups of columns access the same banks if their
// distance is a multiple of 128 bytes, or nearly so if it is one of 32. Then vectors are exchanged
// within 128 bytes, in another order every 2^log2 bytes.
template <bool kSpread>
__device__ inline int SpreadOffset(int offset, int log2) {
  constexpr int kMask = 7;
  if constexpr (kSpread) return offset ^ (offset >> log2 & kMask) * kVectorBytes;
  return offset;
}

template <typename T>
__device__ inline void ExchangeSquare(const uint32_t (&rows)[kSquare<T>],
                                      uint32_t (&columns)[kSquare<T>]) {
  if constexpr (sizeof(T) == 1) {
    const uint32_t ab_low = __byte_perm(rows[0], rows[1], 0x5140);
    const uint32_t ab_high = __byte_perm(rows[0], rows[1], 0x7362);
    const uint32_t cd_low = __byte_perm(rows[2], rows[3], 0x5140);
    const uint32_t cd_high = __byte_perm(rows[2], rows[3], 0x7362);
    columns[0] = __byte_perm(ab_low, cd_low, 0x5410);
    columns[1] = __byte_perm(ab_low, cd_low, 0x7632);
    columns[2] = __byte_perm(ab_high, cd_high, 0x5410);
    columns[3] = __byte_perm(ab_high, cd_high, 0x7632);
  } else {
    columns[0] = __byte_perm(rows[0], rows[1], 0x5410);
    columns[1] = __byte_perm(rows[0], rows[1], 0x7632);
  }
}

// Where a group of columns lies in the rows of a square. kAtWords: all rows begin at words.
template <typename T, bool kAtWords>
class SquareRows {
 public:
  // `offset` is that of the first row's first element; the group has `columns` columns, or more.
  __device__ SquareRows(const unsigned char* tile, int offset, int pitch, int columns)
      : step_(kSquare<T> * pitch) {
    [[maybe_unused]] const int bytes =
        columns < kSquare<T> ? columns * static_cast<int>(sizeof(T)) : kWordBytes;
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) {
      const int at = offset + k * pitch;
      from_[k] = tile + (at & -kWordBytes);
      shift_[k] = static_cast<uint32_t>(at) * 8;
#ifdef STRIDEWISE_HOST_EXECUTOR
      second_[k] = at % kWordBytes + bytes > kWordBytes ? kWordBytes : 0;
#endif
    }
  }
  // Loads the words of `left` rows, or of all, `squares` squares below.
  __device__ void Load(int squares, int left, uint32_t (&rows)[kSquare<T>]) const {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) {
      rows[k] = 0;
      if (k >= left) continue;
      const unsigned char* const from = from_[k] + squares * step_;
      rows[k] = *reinterpret_cast<const uint32_t*>(from);
      if constexpr (!kAtWords) rows[k] = __funnelshift_r(rows[k], Second(from, k), shift_[k]);
    }
  }
  __device__ void Advance() {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) from_[k] += step_;
  }

 private:
  // Returns the word behind that at `from`. Nobody may have written it where it is not needed,
  // which a GPU does not mind, and the host executor reports.
  __device__ uint32_t Second(const unsigned char* from, [[maybe_unused]] int k) const {
#ifdef STRIDEWISE_HOST_EXECUTOR
    return *reinterpret_cast<const uint32_t*>(from + second_[k]);
#else
    return reinterpret_cast<const uint32_t*>(from)[1];
#endif
  }

  int step_;
  const unsigned char* from_[kSquare<T>];
  uint32_t shift_[kSquare<T>];  // In bits; a funnel shift takes it modulo 32.
#ifdef STRIDEWISE_HOST_EXECUTOR
  int second_[kSquare<T>];
#endif
};

// Where a group of columns lies in rows of `out`, and what it has of the square above.
template <typename T, bool kSpread>
class SquareColumns {
 public:
  __device__ SquareColumns(unsigned char* tile, int offset, int pitch, int log2)
      : tile_(tile), log2_(log2) {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) {
      const int at = offset + k * pitch;
      to_[k] = tile + (at & -kWordBytes);
      shift_[k] = static_cast<uint32_t>(at) * 8;
      above_[k] = 0;
    }
  }
  // Returns the bytes by which the words of column k begin above their square.
  __device__ int Above(int k) const { return static_cast<int>(shift_[k] / 8 % kWordBytes); }
  // Sets what was above the first square.
  __device__ void Begin(const uint32_t (&columns)[kSquare<T>]) {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) above_[k] = columns[k];
  }
  // Stores a word of each of `count` columns, and goes on to the square below.
  __device__ void Store(const uint32_t (&columns)[kSquare<T>], int count) {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) {
      if (k < count) *reinterpret_cast<uint32_t*>(At(k)) = Shifted(columns, k);
      Advance(columns, k);
    }
  }
  // Stores what the columns have below the last whole square, in which `bytes` of each are left:
  // words that end there, and what is left of the column that is number `last`, if that is one of
  // them.
  __device__ void StoreEnd(const uint32_t (&columns)[kSquare<T>], int count, int bytes, int last) {
#pragma unroll
    for (int k = 0; k < kSquare<T>; ++k) {
      const int left = Above(k) + bytes;
      if (k >= count) continue;
      if (left >= kWordBytes || (k == last && left > 0)) {
        *reinterpret_cast<uint32_t*>(At(k)) = Shifted(columns, k);
      }
      if (k != last || left <= kWordBytes) continue;
      Advance(columns, k);
      *reinterpret_cast<uint32_t*>(At(k)) = __funnelshift_l(columns[k], 0, shift_[k]);
    }
  }

 private:
  __device__ unsigned char* At(int k) const {
    if constexpr (!kSpread) return to_[k];
    return tile_ + SpreadOffset<kSpread>(static_cast<int>(to_[k] - tile_), log2_);
  }
  __device__ uint32_t Shifted(const uint32_t (&columns)[kSquare<T>], int k) const {
    return __funnelshift_l(above_[k], columns[k], shift_[k]);
  }
  __device__ void Advance(const uint32_t (&columns)[kSquare<T>], int k) {
    above_[k] = columns[k];
    to_[k] += kWordBytes;
  }

  unsigned char* tile_;
  int log2_;
  unsigned char* to_[kSquare<T>];
  uint32_t shift_[kSquare<T>];  // In bits, as above.
  uint32_t above_[kSquare<T>];
};

// Returns a word that ends with the bytes before a column in `out`: the end of the column before
// it, whose last element is at `last`. Rows are `pitch` bytes apart.
template <typename T>
__device__ inline uint32_t EndOfColumn(const unsigned char* last, int pitch) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<uint32_t>(*reinterpret_cast<const T*>(last)) << 16;
  } else {
    return __byte_perm(__byte_perm(0, last[-2 * pitch], 0x0040),
                       __byte_perm(last[-pitch], last[0], 0x0040), 0x5410);
  }
}

// Moves the tile from `in` to `out`, which are both in shared memory. A word of `out` that has the
// end of a column and the beginning of the next is stored with the next, so that all stores are of
// words. REQUIRES: tile.rows >= kSquare<T>.
template <typename T, bool kAtWords, bool kSpread>
__device__ inline void ExchangeSquares(const unsigned char* in, unsigned char* out,
                                       const SquareTile& tile, const SquareItems& items) {
  constexpr int kSize = sizeof(T);
  constexpr int kSide = kSquare<T>;
  const int count = tile.matrices * items.segments * items.groups;
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int item = items.by_groups.Quotient(i);
    const int col = (i - item * items.groups) * kSide;
    const int matrix = items.by_segments.Quotient(item);
    const int segment = item - matrix * items.segments;
    int row = segment * items.segment_rows;
    const int columns_left = tile.cols - col;
    if (row >= tile.rows || columns_left <= 0) continue;
    const int before = matrix * tile.matrix_bytes;
    const int first = tile.in + before + col * kSize;
    const int above = (segment > 0 ? row : tile.rows) - kSide;
    SquareRows<T, kAtWords> rows(in, first + above * tile.in_pitch, tile.in_pitch, columns_left);
    SquareColumns<T, kSpread> columns(out, tile.out + before + col * tile.out_pitch + row * kSize,
                                      tile.out_pitch, items.log2);
    uint32_t words[kSide];
    uint32_t square[kSide];
    rows.Load(0, kSide, words);
    ExchangeSquare<T>(words, square);
    if (segment == 0) {
      // Above a column is the end of the one before it.
#pragma unroll
      for (int k = kSide - 1; k > 0; --k) square[k] = square[k - 1];
      square[0] = 0;
      if (i > 0) {
        const int end = first - kSize + (col > 0 ? (tile.rows - 1) * tile.in_pitch : 0);
        square[0] = EndOfColumn<T>(in + end, tile.in_pitch);
      }
      rows = SquareRows<T, kAtWords>(in, first, tile.in_pitch, columns_left);
    } else {
      rows.Advance();
    }
    columns.Begin(square);
    const int most = row + items.segment_rows;
    const int end = most < tile.rows ? most : tile.rows;
#pragma unroll 2
    for (; row + kSide <= end; row += kSide) {
      rows.Load(0, kSide, words);
      rows.Advance();
      ExchangeSquare<T>(words, square);
      columns.Store(square, columns_left);
    }
    if (most < tile.rows) continue;
    rows.Load(0, tile.rows - row, words);
    ExchangeSquare<T>(words, square);
    const bool is_last = matrix + 1 == tile.matrices;
    columns.StoreEnd(square, columns_left, (tile.rows - row) * kSize,
                     is_last ? columns_left - 1 : -1);
  }
}

// Does the same for columns that begin at words: no word is shifted, and none has two owners, so
// that each square is by itself. A warp takes a few groups of columns by a few squares below each
// other: so its lanes store to different banks although columns are whole words apart.
template <typename T, bool kAtWords, bool kSpread>
__device__ inline void ExchangeAlignedSquares(const unsigned char* in, unsigned char* out,
                                              const SquareTile& tile, const WarpSquares& warps) {
  constexpr int kSize = sizeof(T);
  constexpr int kSide = kSquare<T>;
  const int lane = threadIdx.x % kLanesOfWarp;
  const int first_row = (lane >> warps.log2_across) * kSide;
  const int first_col = (lane & ((1 << warps.log2_across) - 1)) * kSide;
  const int count = tile.matrices * warps.across * warps.below;
#pragma unroll 2
  for (int i = threadIdx.x / kLanesOfWarp; i < count; i += blockDim.x / kLanesOfWarp) {
    const int y = warps.by_across.Quotient(i);
    const int matrix = warps.by_below.Quotient(y);
    const int row =
        ((y - matrix * warps.below) * (kLanesOfWarp >> warps.log2_across)) * kSide + first_row;
    const int col = ((i - y * warps.across) << warps.log2_across) * kSide + first_col;
    if (row >= tile.rows || col >= tile.cols) continue;
    const int before = matrix * tile.matrix_bytes;
    const SquareRows<T, kAtWords> rows(in, tile.in + before + row * tile.in_pitch + col * kSize,
                                       tile.in_pitch, tile.cols - col);
    uint32_t words[kSide];
    uint32_t square[kSide];
    rows.Load(0, kSide, words);
    ExchangeSquare<T>(words, square);
    const int to = tile.out + before + col * tile.out_pitch + row * kSize;
#pragma unroll
    for (int k = 0; k < kSide; ++k) {
      if (col + k >= tile.cols) break;
      const int offset = SpreadOffset<kSpread>(to + k * tile.out_pitch, warps.log2_spread);
      *reinterpret_cast<uint32_t*>(out + offset) = square[k];
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_BYTE_SQUARES_H_
