// Transposes and copies of what the caches hold.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "transpose/cpu/schedules.h"
#include "transpose/cpu/square.h"

namespace stridewise {
namespace {

// Larger batches of small matrices than this part of a thread's are not in its own caches: the
// matrices that follow are fetched.
constexpr int64_t kFetchedBytes = 256 << 10;
constexpr int64_t kAhead = 4096;

// Of a thread that streams; other work may take its core.
constexpr int64_t kStreamedPart = 256 << 10;

// How a matrix is cut: into equal tiles.
struct Tiles {
  int64_t across = 1;  // Tiles along the rows of the output.
  int64_t down = 1;
};

// Returns tiles of 256 bytes either way, of the same area where a matrix is thinner, and smaller
// ones where threads would have less than four each.
Tiles CutIntoTiles(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t line = kLineBytes / one.element_bytes;
  Tiles tiles;
  for (int64_t side = 4 * line;; side /= 2) {
    int64_t rows = std::min(side, one.rows);
    int64_t cols = std::min(side, one.cols);
    if (rows < side) cols = std::max(cols, side * side / rows / line * line);
    if (cols < side) rows = std::max(rows, side * side / cols / line * line);
    tiles = {DivideUp(one.rows, rows), DivideUp(one.cols, cols)};
    const bool enough = threads == 1 || batch.count * tiles.across * tiles.down >= 4 * threads;
    if (enough || side <= line) return tiles;
  }
}

}  // namespace

void CopyOnThreads(const uint8_t* from, uint8_t* to, int64_t bytes, bool streams, int threads) {
  const int64_t parts = streams ? std::max<int64_t>(threads, bytes / kStreamedPart) : threads;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = PartBegin(bytes, parts, i, kLineBytes);
    const int64_t end = PartBegin(bytes, parts, i + 1, kLineBytes);
    if (streams) {
      StreamCopy(from + begin, to + begin, end - begin);
      EndStreaming();
    } else {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
    }
  }
}

void TransposeInCaches(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t line = kLineBytes / one.element_bytes;
  const Tiles tiles = CutIntoTiles(batch, threads);
  const int64_t per_matrix = tiles.across * tiles.down;
  const int64_t total = batch.count * per_matrix;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t thread = 0; thread < threads; ++thread) {
    int64_t tile = total * thread / threads;
    const int64_t end = total * (thread + 1) / threads;
    if (per_matrix == 1) {
      BlockTranspose block = one;
      block.in += tile * batch.stride_in;
      block.out += tile * batch.stride_out;
      block.ahead = (end - tile) * batch.bytes() > kFetchedBytes ? kAhead : 0;
      TransposeBlocks(block, end - tile, batch.stride_in, batch.stride_out);
      continue;
    }
    for (; tile < end; ++tile) {
      const int64_t matrix = tile / per_matrix;
      const int64_t across = tile % per_matrix % tiles.across;
      const int64_t down = tile % per_matrix / tiles.across;
      const int64_t row = PartBegin(one.rows, tiles.across, across, line);
      const int64_t col = PartBegin(one.cols, tiles.down, down, line);
      BlockTranspose block = one;
      block.in += matrix * batch.stride_in + row * one.ld_in + col * one.element_bytes;
      block.out += matrix * batch.stride_out + col * one.ld_out + row * one.element_bytes;
      block.rows = PartBegin(one.rows, tiles.across, across + 1, line) - row;
      block.cols = PartBegin(one.cols, tiles.down, down + 1, line) - col;
      TransposeBlocks(block);
    }
  }
}

}  // namespace stridewise
