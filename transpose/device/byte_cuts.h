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

// How the threads of a block share the tile.
template <typename T>
SquareItems ItemsFor(const ByteCut& cut, int threads) {
  constexpr int kSide = kSquare<T>;
  constexpr int kSquares = 4;  // That a thread goes down, or fewer where threads would have none.
  SquareItems items;
  const int64_t groups = CeilDiv(cut.cols, kSide);
  const int64_t squares = CeilDiv(cut.rows, kSide);
  const int64_t columns = cut.matrices * groups;
  int64_t segments = std::max<int64_t>(1, std::min(CeilDiv(squares, kSquares), threads / columns));
  if (columns * segments < threads * 3 / 4) {
    const int64_t more = std::min(CeilDiv(squares, kSquares / 2), CeilDiv(threads, columns));
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

// Returns how often the bank is accessed that a warp accesses most, if lanes are this many bytes
// apart: 2^log2_across beside each other, and the others below.
inline int MostOfBank(int log2_across, int apart, int below, int log2_spread) {
  constexpr int kBanks = 32;
  int accesses[kBanks] = {};
  int most = 0;
  for (int lane = 0; lane < kLanesOfWarp; ++lane) {
    int at = (lane & ((1 << log2_across) - 1)) * apart + (lane >> log2_across) * below;
    if (log2_spread != 0) at ^= (at >> log2_spread & 7) * kVectorBytes;
    most = std::max(most, ++accesses[at / kWordBytes % kBanks]);
  }
  return most;
}

// How warps share whole matrices whose columns begin at words: so that loads and stores take few
// wavefronts, and lanes have columns and rows.
template <typename T>
WarpSquares WarpSquaresFor(const ByteCut& cut) {
  constexpr int kSide = kSquare<T>;
  constexpr int kOtherInstructions = 6;  // Of a row of a square, in wavefronts.
  WarpSquares best;
  best.log2_spread = cut.items.log2;
  int least = 0;
  for (int log2 = 1; log2 <= 4; ++log2) {
    const auto across = static_cast<int>(CeilDiv(cut.items.groups, int64_t{1} << log2));
    const auto below =
        static_cast<int>(CeilDiv(CeilDiv(cut.rows, kSide), int64_t{kLanesOfWarp} >> log2));
    const int loads = MostOfBank(log2, kWordBytes, kSide * cut.in_pitch, 0);
    const int stores = MostOfBank(log2, kSide * cut.out_pitch, kWordBytes, cut.items.log2);
    const int cost = (2 * loads + stores + kOtherInstructions) * across * below;
    if (least != 0 && cost >= least) continue;
    least = cost;
    best.log2_across = log2;
    best.across = across;
    best.below = below;
  }
  best.by_across = SmallDivisor(best.across);
  best.by_below = SmallDivisor(best.below);
  return best;
}

inline int RoundUp(int64_t n, int64_t unit) { return static_cast<int>(CeilDiv(n, unit) * unit); }

// Whole matrices of about `piece_bytes`, and fewer where blocks would be few.
template <typename T>
ByteCut WholeMatricesCut(const TransposeArgs& args, int64_t piece_bytes, int64_t least_blocks,
                         int threads) {
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  ByteCut cut;
  cut.rows = cut.rows_held = static_cast<int>(args.rows);
  cut.cols = static_cast<int>(args.cols);
  cut.shift = 0;
  const int64_t fit = std::max<int64_t>(1, piece_bytes / bytes);
  cut.matrices = static_cast<int>(std::min(fit, std::max<int64_t>(1, args.batch / least_blocks)));
  cut.in_pitch = static_cast<int>(args.cols * args.element_bytes);
  cut.out_pitch = static_cast<int>(args.rows * args.element_bytes);
  cut.in_bytes = cut.out_bytes = RoundUp(cut.matrices * bytes + 2 * kVectorBytes, kLineBytes);
  cut.items = ItemsFor<T>(cut, threads);
  return cut;
}

// Strips of all rows and of as many columns as `tile_bytes` hold.
template <typename T>
ByteCut StripsCut(const TransposeArgs& args, int64_t tile_bytes, int64_t least_blocks,
                  int threads) {
  constexpr int64_t kSize = sizeof(T);
  ByteCut cut;
  cut.rows = cut.rows_held = static_cast<int>(args.rows);
  cut.shift = 0;
  const int64_t most = std::max<int64_t>(1, tile_bytes / (args.rows * kSize));
  int64_t strips = CeilDiv(args.cols, most);
  const int64_t wanted =
      std::min(CeilDiv(least_blocks, args.batch), CeilDiv(args.cols * kSize, 64));
  strips = std::max(strips, wanted);
  int64_t cols = CeilDiv(args.cols, strips);
  if (InRowsAreAt(args, kVectorBytes)) cols = RoundUp(cols, kSectorBytes / kSize);
  cut.cols = static_cast<int>(std::min(cols, args.cols));
  const bool aligned = InRowsAreAt(args, kVectorBytes) && cut.cols * kSize % kVectorBytes == 0;
  cut.chunks = static_cast<int>(
      CeilDiv(cut.cols * kSize + (aligned ? 0 : kVectorBytes - kSize), kVectorBytes));
  cut.by_chunks = SmallDivisor(cut.chunks);
  const auto residue = static_cast<int>(args.ld_in * kSize % kVectorBytes);
  cut.in_pitch = cut.chunks * kVectorBytes + (residue == 0 ? kVectorBytes : residue);
  cut.in_bytes = RoundUp(int64_t{cut.rows} * cut.in_pitch + 3 * kVectorBytes, kLineBytes);
  cut.out_pitch = cut.rows * static_cast<int>(kSize);
  cut.out_bytes = RoundUp(int64_t{cut.out_pitch} * cut.cols + 3 * kVectorBytes, kLineBytes);
  cut.items = ItemsFor<T>(cut, threads);
  return cut;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_BYTE_CUTS_H_
