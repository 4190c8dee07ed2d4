// Transposes past the caches by way of a block in them, and in tiles.

#include <algorithm>
#include <cstdint>

#include "transpose/cpu/schedules.h"
#include "transpose/cpu/square.h"
#include "transpose/cpu/streamed.h"

namespace stridewise {
namespace {

constexpr int64_t kBlockBytes = 32 << 10;  // Of a block that is to be filled.
constexpr int64_t kMostBytes = 512 << 10;  // Of one that holds a few lines of every row.
constexpr int64_t kMostRowBytes = 1024;    // Of the output, for which it does.
constexpr int64_t kLinesOfRow = 4;         // Of the input, for a piece of many rows.
constexpr int64_t kPiecesOfTurn = 4;       // That a thread takes at once.
constexpr int64_t kLeastTurn = 128 << 10;  // Of few columns, in bytes,
constexpr int64_t kTurnsOfThread = 8;
constexpr int64_t kMostTurn = 512 << 10;   // up to that where there are many.
constexpr int64_t kAheadInRow = 256;       // Bytes fetched ahead, of rows side by side,
constexpr int64_t kAheadInBatch = 4096;    // and of matrices one after the other.
constexpr int64_t kMostRunBytes = 8192;    // Of a row of the output, where there are few:
constexpr int64_t kRunsBytes = 128 << 10;  // all together.
constexpr int64_t kMostColumns = 64;       // Of bytes, for which there are.

// Returns into how many chunks a transpose of `bytes` past the caches is cut: several for
// each thread, but none of less than 128 KB, since it begins with nothing fetched. That costs a
// core of an EPYC more, whose tiles take a quarter of 512 KB.
int64_t StreamedChunks(int64_t bytes, int threads, StreamedTiling tiling) {
  const int64_t chunk = tiling == StreamedTiling::kAmd ? 4 << 20 : 512 << 10;
  constexpr int64_t kLeast = 128 << 10;
  constexpr int64_t kChunksOfThread = 8;
  return std::max<int64_t>(
      {bytes / chunk, std::min(bytes / kLeast, int64_t{threads} * kChunksOfThread), 1});
}

}  // namespace

bool HasContiguousOutput(const BatchTranspose& batch) {
  const BlockTranspose& one = batch.first;
  if (one.cols > 1 && one.ld_out != one.rows * one.element_bytes) return false;
  if (batch.bytes() <= kBlockBytes) return true;
  return one.ld_out <= kMostRowBytes && !one.aligned();
}

void StreamContiguousOutput(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t row = one.rows * one.element_bytes;
  const int64_t line = kLineBytes / one.element_bytes;
  int64_t pieces = 1;  // Of a matrix.
  int64_t group = 1;   // Matrices of a piece.
  if (batch.bytes() > kBlockBytes) {
    const int64_t cols = std::max(kBlockBytes / row / line, kLinesOfRow) * line;
    pieces = DivideUp(one.cols, std::min(cols, std::max<int64_t>(kMostBytes / row, 1)));
  } else if (batch.stride_out == batch.bytes()) {
    group = kBlockBytes / batch.bytes();
  }
  // Elements of one and two bytes, which take longer, leave a Xeon's own prefetching enough time.
  const bool fetches = one.element_bytes > 2 || TilingOfProcessor() == StreamedTiling::kAmd;
  const int64_t total = DivideUp(batch.count, group) * pieces;
  const auto stream = [&](int64_t begin, int64_t end) {
    alignas(64) uint8_t block[kMostBytes + kLineBytes];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / pieces * group;
      const int64_t count = std::min(group, batch.count - first);
      const int64_t col = PartBegin(one.cols, pieces, i % pieces, line);
      BlockTranspose piece = one;
      piece.in += first * batch.stride_in + col * one.element_bytes;
      piece.cols = PartBegin(one.cols, pieces, i % pieces + 1, line) - col;
      piece.ahead = !fetches ? 0 : pieces == 1 ? kAheadInBatch : kAheadInRow;
      // Lines of the block are those of the output.
      uint8_t* const out = one.out + first * batch.stride_out + col * row;
      piece.out = block + reinterpret_cast<uintptr_t>(out) % kLineBytes;
      piece.ld_out = row;
      TransposeBlocks(piece, count, batch.stride_in, batch.bytes());
      StreamCopy(piece.out, out, piece.cols * row + (count - 1) * batch.bytes());
    }
    EndStreaming();
  };
  RunInTurn(threads, total, kPiecesOfTurn, stream);
}

// Tiles of one or two bytes have more elements along a row, so that more columns are few.
bool HasFewColumns(const BatchTranspose& batch) {
  const BlockTranspose& one = batch.first;
  if (one.cols < 16) return true;
  return one.element_bytes <= 2 && !one.aligned() && one.cols <= kMostColumns / one.element_bytes;
}

void StreamFewColumns(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t run = std::min(kMostRunBytes, kRunsBytes / one.cols / kLineBytes * kLineBytes);
  const int64_t pitch = run + kLineBytes;  // So that the rows are in all sets of the L1 cache.
  const int64_t rows = run / one.element_bytes;
  const int64_t pieces = DivideUp(one.rows, rows);
  const auto stream = [&](int64_t begin, int64_t end) {
    alignas(64) uint8_t block[kRunsBytes + kMostColumns * kLineBytes];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / pieces;
      const int64_t row = i % pieces * rows;
      BlockTranspose piece = one;
      piece.in += matrix * batch.stride_in + row * one.ld_in;
      piece.rows = std::min(rows, one.rows - row);
      piece.out = block;
      piece.ld_out = pitch;
      TransposeBlocks(piece);
      uint8_t* const out = one.out + matrix * batch.stride_out + row * one.element_bytes;
      for (int64_t col = 0; col < one.cols; ++col) {
        StreamCopy(block + col * pitch, out + col * one.ld_out, piece.rows * one.element_bytes);
      }
    }
    EndStreaming();
  };
  const int64_t turn =
      std::clamp(batch.count * batch.bytes() / (kTurnsOfThread * threads), kLeastTurn, kMostTurn);
  const int64_t bytes = std::min(rows, one.rows) * one.cols * one.element_bytes;
  RunInTurn(threads, batch.count * pieces, std::max<int64_t>(turn / bytes, 1), stream);
}

void StreamTiles(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const StreamedTranspose whole = {one};
  const int64_t tiles = CountStreamedTiles(whole);
  const int64_t bytes = batch.count * batch.bytes();
  const int64_t chunks = threads == 1 ? batch.count : StreamedChunks(bytes, threads, whole.tiling);
  const int64_t of_matrix = std::clamp<int64_t>(chunks / batch.count, 1, tiles);
  RunInTurn(threads, batch.count * of_matrix, 1, [&](int64_t i, int64_t /*end*/) {
    StreamedTranspose matrix = whole;
    matrix.in += i / of_matrix * batch.stride_in;
    matrix.out += i / of_matrix * batch.stride_out;
    const int64_t chunk = i % of_matrix;
    TransposeStreamed(matrix, tiles * chunk / of_matrix, tiles * (chunk + 1) / of_matrix);
  });
}

}  // namespace stridewise
