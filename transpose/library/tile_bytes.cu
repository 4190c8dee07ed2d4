// For batches of matrices of 1 and 2 bytes. tile_ragged loads each element from shared memory by
// itself, and few_rows and batch_small store each there: 12 to 24 instructions a byte. Here words
// are moved and 4 x 4 bytes exchanged by byte permutes (byte_squares.h), and all that lies in one
// piece is loaded and stored as one piece:
//
//   whole matrices  of a batch without gaps, several a block: one piece in and one out
//   strips          of a few columns of all rows: rows in, and one piece out
//
// Other matrices go to tile_ragged. Tiles of them were no gain there: without any exchange 0.66 of
// a copy at 465x203358 bytes on an H200, where tile_ragged has 0.76.

#include <cstdint>
#include <type_traits>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/byte_cuts.h"
#include "transpose/device/byte_squares.h"
#include "transpose/device/byte_tile.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/strip.h"
#include "transpose/device/tile_grid.h"

namespace stridewise {
namespace {

template <typename T, int kThreads, bool kAtWords, bool kSpread, bool kAligned>
__global__ void __launch_bounds__(kThreads)
    WholeMatrices(const T* in, T* out, int64_t matrices, int elements, ByteCut cut,
                  WarpSquares warps) {
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
                           cut.rows,
                           cut.cols,
                           count,
                           elements * kSize};
  if constexpr (kAligned) {
    ExchangeAlignedSquares<T, kAtWords, kSpread>(rows, columns, tile, warps);
  } else {
    ExchangeSquares<T, kAtWords, kSpread>(rows, columns, tile, cut.items);
  }
  __syncthreads();
  StorePiece<T, kSpread>(to, count * elements, columns, cut.items.log2);
}

template <typename T, int kThreads, bool kAtWords, bool kSpread>
__global__ void __launch_bounds__(kThreads)
    Strips(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, ByteCut cut) {
  constexpr int kSize = sizeof(T);
  extern __shared__ Vector tile_memory[];
  auto* const rows = reinterpret_cast<unsigned char*>(tile_memory);
  unsigned char* const columns = rows + cut.in_bytes;
  const RaggedPart part = EnterRaggedTile(batch, cut, &in, &out);
  T* const to = out.data + part.first_col * out.ld;
  const Span matrix = {reinterpret_cast<intptr_t>(in.data),
                       reinterpret_cast<intptr_t>(in.data + (in.rows - 1) * in.ld + in.cols)};
  const SquareTile tile = {
      LoadRowsOfPart(in.data + part.first_col, in.ld * kSize, part, cut, matrix, rows),
      cut.in_pitch,
      Strip<T>::Lead(to) * kSize,
      cut.out_pitch,
      cut.rows,
      part.cols,
      1,
      0};
  ExchangeSquares<T, kAtWords, kSpread>(rows, columns, tile, cut.items);
  __syncthreads();
  StorePiece<T, kSpread>(to, part.cols * cut.rows, columns, cut.items.log2);
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

template <typename T, int kThreads>
LaunchStatus RunWhole(const TransposeArgs& args, const ByteCut& cut, bool aligned) {
  const bool at_words = IsAt(args.in, kWordBytes) && cut.in_pitch % kWordBytes == 0;
  const WarpSquares warps = aligned ? WarpSquaresFor<T>(cut) : WarpSquares();
  return WithFlags(at_words, cut.items.log2 != 0, [&](auto words, auto spread) {
    constexpr bool kAtWords = decltype(words)::value;
    constexpr bool kSpread = decltype(spread)::value;
    return Launch(aligned ? WholeMatrices<T, kThreads, kAtWords, kSpread, true>
                          : WholeMatrices<T, kThreads, kAtWords, kSpread, false>,
                  Grid{CeilDiv(args.batch, int64_t{cut.matrices})}, Block{kThreads},
                  static_cast<size_t>(cut.in_bytes) + cut.out_bytes, args.stream,
                  static_cast<const T*>(args.in), static_cast<T*>(args.out), args.batch,
                  cut.rows * cut.cols, cut, warps);
  });
}

template <typename T, int kThreads>
LaunchStatus RunStrips(const TransposeArgs& args, const ByteCut& cut) {
  constexpr int64_t kSize = sizeof(T);
  const bool at_words = InRowsAreAt(args, kWordBytes) && args.ld_in * kSize % kWordBytes == 0 &&
                        (cut.cols * kSize % kWordBytes == 0 || cut.cols == args.cols);
  return WithFlags(at_words, cut.items.log2 != 0, [&](auto words, auto spread) {
    const auto launch = [&](const TransposeArgs& part, const Grid& grid, const TileBatch& batch) {
      return Launch(Strips<T, kThreads, decltype(words)::value, decltype(spread)::value>, grid,
                    Block{kThreads}, static_cast<size_t>(cut.in_bytes) + cut.out_bytes, part.stream,
                    part.In<T>(), part.Out<T>(), batch, cut);
    };
    return ForEachTileGrid(args, /*tile_rows=*/1, cut.TileCols(args), /*band_rows=*/1, launch);
  });
}

}  // namespace

LaunchStatus TransposeTileRagged(const TransposeArgs& args);

namespace {

constexpr int kFewThreads = 256;
constexpr int kManyThreads = 512;
constexpr int64_t kBlocks = 400;  // About three for each multiprocessor.

constexpr int64_t kLargeBytes = 33 << 10;  // Of a matrix.

// On an H200 90 matrices of 613x100 bytes have 1.01 of a copy as whole ones and 0.88 as strips, 169
// of 325x255, 81 KB, 0.84 and 0.85, 60 of 200x300 0.99 and 1.03, and 300 of 61x1000 0.81 and 0.91.
template <typename T>
bool HasWholeMatrices(const TransposeArgs& args) {
  constexpr int64_t kMostBytes = (sizeof(T) == 1 ? 62 : 48) << 10;
  constexpr int64_t kFewMatrices = 64;
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  return args.batch > 1 && IsGapless(args) && bytes <= kMostBytes &&
         (bytes <= kLargeBytes || (args.batch >= kFewMatrices && args.cols <= 8 * args.rows));
}

template <typename T>
LaunchStatus RunWholeMatrices(const TransposeArgs& args) {
  constexpr int64_t kPieceBytes = 28 << 10;
  constexpr int64_t kSmallPieceBytes = 16 << 10;
  constexpr int64_t kFewBytes = 20000000;
  // A multiprocessor has three blocks or fewer of what is larger: 554x89 bytes have 0.87 of a copy
  // with 512 threads and 0.76 with 256, but 256x100 0.75 and 0.88 (an H200).
  // Elements of 2 bytes: in matrices above kMostAlignedBytes lanes that go down the squares, one
  // below the other, are faster: 0.85 to 0.95 of the time.
  constexpr int64_t kMostAlignedBytes = 4 << 10;
  constexpr int64_t kSize = sizeof(T);
  const int64_t bytes = args.rows * args.cols * kSize;
  const bool aligned = IsAt(args.out, kWordBytes) && args.rows * kSize % kWordBytes == 0 &&
                       (kSize == 1 || bytes <= kMostAlignedBytes);
  const bool small = aligned || args.batch * bytes < kFewBytes;
  const int64_t piece_bytes = small ? kSmallPieceBytes : kPieceBytes;
  if (bytes > kLargeBytes) {
    return RunWhole<T, kManyThreads>(
        args, WholeMatricesCut<T>(args, piece_bytes, kBlocks, kManyThreads), aligned);
  }
  return RunWhole<T, kFewThreads>(
      args, WholeMatricesCut<T>(args, piece_bytes, kBlocks, kFewThreads), aligned);
}

template <typename T>
LaunchStatus Run(const TransposeArgs& args) {
  constexpr int64_t kPieceBytes = 28 << 10;
  constexpr int64_t kSmallPieceBytes = 20 << 10;
  constexpr int64_t kFewBytes = 30000000;
  constexpr int64_t kMostRowBytes = 640;  // Of `out`.
  constexpr int64_t kSize = sizeof(T);
  if (args.rows < kSquare<T>) return TransposeTileRagged(args);
  if (HasWholeMatrices<T>(args)) return RunWholeMatrices<T>(args);
  if (args.ld_out != args.rows || args.rows * kSize > kMostRowBytes) {
    return TransposeTileRagged(args);
  }
  constexpr int kThreads = sizeof(T) == 1 ? kFewThreads : kManyThreads;
  const bool few = args.batch * args.rows * args.cols * kSize < kFewBytes;
  return RunStrips<T, kThreads>(
      args, StripsCut<T>(args, few ? kSmallPieceBytes : kPieceBytes, kBlocks, kThreads));
}

}  // namespace

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
