// How tile_bytes.cu cuts matrices, computed by the host. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_BYTE_CUTS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_BYTE_CUTS_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/byte_squares.h"
#include "transpose/device/byte_tile.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

inline constexpr int kByteTileThreads = 256;

// How threads share the tile.
template <typename T>
SquareItems ItemsFor(const ByteCut& cut) {
  constexpr int kSide = kSquare<T>;
  constexpr int kSquares = 8;  // That a thread goes down, or fewer where threads would have none.
  SquareItems items;
  const int64_t groups = CeilDiv(cut.cols, kSide);
  const int64_t squares = CeilDiv(cut.rows_held + kSide - 1, kSide);
  const int64_t columns = cut.matrices * groups;
  int64_t segments =
      std::max<int64_t>(1, std::min(CeilDiv(squares, kSquares), kByteTileThreads / columns));
  if (columns * segments < kByteTileThreads * 3 / 4) {
    const int64_t more =
        std::min(CeilDiv(squares, kSquares / 2), CeilDiv(kByteTileThreads, columns));
    segments = std::max(segments, more);
  }
  const int64_t of_segment = CeilDiv(squares, segments);
  items.groups = static_cast<int>(groups);
  items.segment_rows = static_cast<int>(of_segment) * kSide;
  items.segments = static_cast<int>(CeilDiv(squares, of_segment));
  items.by_groups = SmallDivisor(items.groups);
  items.by_segments = SmallDivisor(items.segments);
  // The distance between the words that neighbouring threads store.
  const int apart = cut.out_pitch * kSide;
  int log2 = 0;
  while (log2 < 16 && apart % (2 << log2) == 0) ++log2;
  if (log2 >= 5) items.log2 = std::max(7, log2);
  return items;
}

inline int RoundUp(int64_t n, int64_t unit) { return static_cast<int>(CeilDiv(n, unit) * unit); }

// Whole matrices of about `piece_bytes`, and fewer where blocks would be few.
template <typename T>
ByteCut WholeMatricesCut(const TransposeArgs& args, int64_t piece_bytes, int64_t least_blocks) {
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  ByteCut cut;
  cut.rows = cut.rows_held = static_cast<int>(args.rows);
  cut.cols = static_cast<int>(args.cols);
  cut.shift = 0;
  cut.flat = true;
  const int64_t fit = std::max<int64_t>(1, piece_bytes / bytes);
  cut.matrices = static_cast<int>(std::min(fit, std::max<int64_t>(1, args.batch / least_blocks)));
  cut.in_pitch = static_cast<int>(args.cols * args.element_bytes);
  cut.out_pitch = static_cast<int>(args.rows * args.element_bytes);
  cut.in_bytes = cut.out_bytes = RoundUp(cut.matrices * bytes + 2 * kVectorBytes, kLineBytes);
  cut.items = ItemsFor<T>(cut);
  return cut;
}

// Sets the rest of a cut into parts of matrices. `run`: all columns of some rows, as one piece.
template <typename T>
void FinishPart(const TransposeArgs& args, bool run, ByteCut* cut) {
  constexpr int kSize = sizeof(T);
  const auto residue = [](int64_t ld) { return static_cast<int>(ld * kSize % kVectorBytes); };
  if (run) {
    cut->in_pitch = static_cast<int>(args.ld_in * kSize);
  } else {
    const bool aligned = InRowsAreAt(args, kVectorBytes) && cut->cols * kSize % kVectorBytes == 0;
    cut->chunks = static_cast<int>(
        CeilDiv(cut->cols * kSize + (aligned ? 0 : kVectorBytes - kSize), kVectorBytes));
    cut->by_chunks = SmallDivisor(cut->chunks);
    cut->in_pitch = cut->chunks * kVectorBytes + residue(args.ld_in);
    if (residue(args.ld_in) == 0) cut->in_pitch += kVectorBytes;
  }
  cut->in_bytes = RoundUp(int64_t{cut->rows_held} * cut->in_pitch + 3 * kVectorBytes, kLineBytes);
  cut->out_pitch = cut->rows * kSize;
  if (!cut->flat) {
    cut->out_pitch = RoundUp(int64_t{cut->rows_held} * kSize + kVectorBytes, kVectorBytes) +
                     residue(args.ld_out);
    while (cut->out_pitch * kSquare<T> % kLineBytes == 0) cut->out_pitch += kVectorBytes;
  }
  cut->out_bytes = RoundUp(int64_t{cut->out_pitch} * cut->cols + 3 * kVectorBytes, kLineBytes);
  cut->items = ItemsFor<T>(*cut);
}

// Strips of all rows and of as many columns as `tile_bytes` hold.
template <typename T>
ByteCut StripsCut(const TransposeArgs& args, int64_t tile_bytes, int64_t least_blocks) {
  constexpr int64_t kSize = sizeof(T);
  ByteCut cut;
  cut.rows = cut.rows_held = static_cast<int>(args.rows);
  cut.shift = 0;
  cut.flat = true;
  const int64_t most = std::max<int64_t>(1, tile_bytes / (args.rows * kSize));
  int64_t strips = CeilDiv(args.cols, most);
  const int64_t wanted =
      std::min(CeilDiv(least_blocks, args.batch), CeilDiv(args.cols * kSize, 64));
  strips = std::max(strips, wanted);
  int64_t cols = CeilDiv(args.cols, strips);
  if (InRowsAreAt(args, kVectorBytes)) cols = RoundUp(cols, kSectorBytes / kSize);
  cut.cols = static_cast<int>(std::min(cols, args.cols));
  FinishPart<T>(args, /*run=*/false, &cut);
  return cut;
}

// Sets rows so that all tiles have equally many, at most `most`, and there are `tiles` or more.
template <typename T>
void CutRows(const TransposeArgs& args, int64_t most, int64_t tiles, ByteCut* cut) {
  constexpr int64_t kUnit = kSectorBytes / sizeof(T);
  cut->shift = OutRowsAreAt(args, kSectorBytes) ? 0 : static_cast<int>(kUnit);
  const int64_t rows = args.rows + cut->shift;
  cut->rows = RoundUp(CeilDiv(rows, std::max(CeilDiv(rows, most / kUnit * kUnit), tiles)), kUnit);
  cut->rows_held = cut->rows + cut->shift;
}

// Runs of rows with all columns.
template <typename T>
ByteCut RunsCut(const TransposeArgs& args, int64_t tile_bytes, int64_t least_blocks) {
  constexpr int64_t kSize = sizeof(T);
  ByteCut cut;
  cut.cols = static_cast<int>(args.cols);
  const int64_t most = std::max<int64_t>(64, tile_bytes / (args.cols * kSize));
  const int64_t wanted =
      std::min(CeilDiv(least_blocks, args.batch), CeilDiv(args.rows * kSize, 256));
  CutRows<T>(args, most, wanted, &cut);
  FinishPart<T>(args, /*run=*/true, &cut);
  return cut;
}

// Tiles of at most this many bytes of a row of `in` and of `out`.
template <typename T>
ByteCut TilesCut(const TransposeArgs& args, int64_t row_bytes, int64_t column_bytes) {
  constexpr int64_t kSize = sizeof(T);
  ByteCut cut;
  CutRows<T>(args, column_bytes / kSize, /*tiles=*/1, &cut);
  const int64_t unit = (InRowsAreAt(args, kVectorBytes) ? kSectorBytes : kVectorBytes) / kSize;
  const int64_t tiles = CeilDiv(args.cols * kSize, row_bytes);
  cut.cols = RoundUp(CeilDiv(args.cols, tiles), unit);
  FinishPart<T>(args, /*run=*/false, &cut);
  return cut;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_BYTE_CUTS_H_
