// For matrices of 1 and 2 bytes whose rows begin anywhere, and batches of small ones. tile_ragged
// loads each element from shared memory by itself, and few_rows and batch_small store each there:
// 12 to 24 instructions a byte. Here words are moved and 4 x 4 bytes exchanged by byte permutes
// (byte_squares.h), and all that lies in one piece is loaded and stored as one piece:
//
//   whole matrices  of a batch without gaps, several a block: one piece in and one out
//   strips          of a few columns of all rows: rows in, and one piece out
//   runs            of all of few columns, of some rows: one piece in, and parts of out rows
//   tiles           rows in, and parts of out rows, each from a sector that it has for itself
//                   (sector_piece.h)

#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/byte_cuts.h"
#include "transpose/device/byte_squares.h"
#include "transpose/device/byte_tile.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/strip.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = kByteTileThreads;
constexpr int kLanesOfRow = 16;  // That store a part of an out row: 256 bytes.

// Stores `count` elements that are one piece on both sides.
template <typename T, bool kSpread>
__device__ inline void StorePiece(T* to, int count, const unsigned char* shared, int log2) {
  const Strip<T> strip(to, count);
  const int vectors = (strip.lead() + count) / kVectorElements<T>;
#pragma unroll 4
  for (int v = threadIdx.x; v < vectors; v += kThreads) {
    if (v == 0 && strip.lead() != 0) continue;  // An end.
    const int offset = SpreadOffset<kSpread>(v * kVectorBytes, log2);
    StoreVector(&strip.At(v), *reinterpret_cast<const Vector*>(shared + offset));
  }
  if (threadIdx.x >= Strip<T>::kEnds) return;
  const int index = strip.End(threadIdx.x);
  if (index < 0) return;
  const int offset = (strip.lead() + index) * static_cast<int>(sizeof(T));
  strip[index] = *reinterpret_cast<const T*>(shared + SpreadOffset<kSpread>(offset, log2));
}

// Stores the parts of out rows. `lead` is the offset of the tile's corner.
template <typename T, bool kSpread>
__device__ inline void StoreParts(T* corner, int64_t ld, const RaggedPart& part, const ByteCut& cut,
                                  int lead, const unsigned char* shared) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const bool inside = part.IsWhole(cut);
  const auto piece_of = [&](int col) {
    return SectorPiece<T>(corner + col * ld, cut.shift, cut.rows, part.begin, part.end);
  };
  const auto at = [&](int row, int col) {
    return shared + SpreadOffset<kSpread>(lead + col * cut.out_pitch + row * kSize, cut.items.log2);
  };
  for (int col = threadIdx.x / kLanesOfRow; col < part.cols; col += kThreads / kLanesOfRow) {
    const SectorPiece<T> piece = piece_of(col);
#pragma unroll 2
    for (int v = threadIdx.x % kLanesOfRow; v * kElements < cut.rows; v += kLanesOfRow) {
      const int row = piece.First(v);
      if (!inside && !piece.Fills(row)) continue;
      StoreVector(piece.At(row), *reinterpret_cast<const Vector*>(at(row, col)));
    }
  }
  if (inside) return;
  SectorPiece<T>::StoreEnds(
      part.cols, part.begin > 0, part.end < cut.rows_held, kThreads, piece_of,
      [&](int row, int col) { return *reinterpret_cast<const T*>(at(row, col)); });
}

template <typename T, bool kAtWords, bool kSpread>
__global__ void __launch_bounds__(kThreads)
    WholeMatrices(const T* in, T* out, int64_t matrices, int elements, ByteCut cut) {
  constexpr int kSize = sizeof(T);
  extern __shared__ Vector tile_memory[];
  auto* const rows = reinterpret_cast<unsigned char*>(tile_memory);
  unsigned char* const columns = rows + cut.in_bytes;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * cut.matrices;
  const int64_t left = matrices - first;
  const int count = left < cut.matrices ? static_cast<int>(left) : cut.matrices;
  const T* const from = in + first * elements;
  T* const to = out + first * elements;
  const Span all = {reinterpret_cast<intptr_t>(in),
                    reinterpret_cast<intptr_t>(in + matrices * elements)};
  const Span piece = {reinterpret_cast<intptr_t>(from),
                      reinterpret_cast<intptr_t>(from + count * elements)};
  const SquareTile tile = {LoadPiece<T>(piece, all, rows),
                           cut.in_pitch,
                           Strip<T>::Lead(to) * kSize,
                           cut.out_pitch,
                           0,
                           cut.rows,
                           cut.cols,
                           count,
                           elements * kSize};
  ExchangeSquares<T, kAtWords, kSpread>(rows, columns, tile, cut.items);
  __syncthreads();
  StorePiece<T, kSpread>(to, count * elements, columns, cut.items.log2);
}

template <typename T, bool kRun, bool kFlat, bool kAtWords, bool kSpread>
__global__ void __launch_bounds__(kThreads)
    PartOfMatrix(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, ByteCut cut) {
  constexpr int kSize = sizeof(T);
  extern __shared__ Vector tile_memory[];
  auto* const rows = reinterpret_cast<unsigned char*>(tile_memory);
  unsigned char* const columns = rows + cut.in_bytes;
  const RaggedPart part = EnterRaggedTile(batch, cut, &in, &out);
  if (part.begin >= part.end) return;
  T* const corner = out.data + part.first_col * out.ld + part.first_row;
  SquareTile tile = {0,
                     cut.in_pitch,
                     Strip<T>::Lead(corner) * kSize,
                     cut.out_pitch,
                     part.begin,
                     part.end,
                     part.cols,
                     1,
                     0};
  const Span matrix = {reinterpret_cast<intptr_t>(in.data),
                       reinterpret_cast<intptr_t>(in.data + (in.rows - 1) * in.ld + in.cols)};
  const T* const from = in.data + part.first_row * in.ld + part.first_col;
  if constexpr (kRun) {
    const Span run = {reinterpret_cast<intptr_t>(from + part.begin * in.ld),
                      reinterpret_cast<intptr_t>(from + part.end * in.ld)};
    tile.in = LoadPiece<T>(run, matrix, rows) - part.begin * cut.in_pitch;
  } else {
    tile.in = LoadRowsOfPart(from, in.ld * kSize, part, cut, matrix, rows);
  }
  ExchangeSquares<T, kAtWords, kSpread>(rows, columns, tile, cut.items);
  __syncthreads();
  if constexpr (kFlat) {
    StorePiece<T, kSpread>(corner, part.cols * cut.rows, columns, cut.items.log2);
  } else {
    StoreParts<T, kSpread>(corner, out.ld, part, cut, tile.out, columns);
  }
}

// Calls choose() with both flags as types.
template <typename Choose>
LaunchStatus WithFlags(bool at_words, bool spread, Choose choose) {
  if (at_words) {
    return spread ? choose(std::true_type(), std::true_type())
                  : choose(std::true_type(), std::false_type());
  }
  return spread ? choose(std::false_type(), std::true_type())
                : choose(std::false_type(), std::false_type());
}

template <typename T>
LaunchStatus RunWhole(const TransposeArgs& args, const ByteCut& cut) {
  const bool at_words = IsAt(args.in, kWordBytes) && cut.in_pitch % kWordBytes == 0;
  return WithFlags(at_words, cut.items.log2 != 0, [&](auto words, auto spread) {
    return Launch(WholeMatrices<T, decltype(words)::value, decltype(spread)::value>,
                  Grid{CeilDiv(args.batch, int64_t{cut.matrices})}, Block{kThreads},
                  static_cast<size_t>(cut.in_bytes) + cut.out_bytes, args.stream,
                  static_cast<const T*>(args.in), static_cast<T*>(args.out), args.batch,
                  cut.rows * cut.cols, cut);
  });
}

template <typename T, bool kRun, bool kFlat>
LaunchStatus RunParts(const TransposeArgs& args, const ByteCut& cut) {
  constexpr int64_t kSize = sizeof(T);
  const bool at_words = InRowsAreAt(args, kWordBytes) && args.ld_in * kSize % kWordBytes == 0 &&
                        (cut.cols * kSize % kWordBytes == 0 || cut.cols == args.cols);
  return WithFlags(at_words, cut.items.log2 != 0, [&](auto words, auto spread) {
    const auto launch = [&](const TransposeArgs& part, const Grid& grid, const TileBatch& batch) {
      return Launch(PartOfMatrix<T, kRun, kFlat, decltype(words)::value, decltype(spread)::value>,
                    grid, Block{kThreads}, static_cast<size_t>(cut.in_bytes) + cut.out_bytes,
                    part.stream, part.In<T>(), part.Out<T>(), batch, cut);
    };
    const int64_t tile_rows = kFlat ? 1 : cut.TileRows(args);
    const int64_t tile_cols = cut.TileCols(args);
    // Bands as in tile_ragged.cu.
    constexpr int64_t kLow = 100;
    constexpr int64_t kLowBand = 4;
    const bool low = tile_rows > kLow && tile_cols <= kLow;
    const int64_t band = low ? kLowBand : BandRows(tile_rows, tile_cols);
    return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
  });
}

template <typename T>
LaunchStatus Run(const TransposeArgs& args) {
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  const int64_t size = args.element_bytes;
  if (args.batch > 1 && IsGapless(args) && bytes <= 28 << 10) {
    return RunWhole<T>(args, WholeMatricesCut<T>(args, 28 << 10, 400));
  }
  if (args.ld_out == args.rows && args.rows * size <= 640) {
    return RunParts<T, false, true>(args, StripsCut<T>(args, 28 << 10, 400));
  }
  if (args.ld_in == args.cols && args.cols * size <= 96) {
    return RunParts<T, true, false>(args, RunsCut<T>(args, 12 << 10, 528));
  }
  return RunParts<T, false, false>(args, TilesCut<T>(args, 112, 256));
}

}  // namespace

LaunchStatus TransposeTileRagged(const TransposeArgs& args);

LaunchStatus TransposeTileBytes(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t>(args);
    case 2:
      return Run<uint16_t>(args);
    default:
      return TransposeTileRagged(args);
  }
}

}  // namespace stridewise
