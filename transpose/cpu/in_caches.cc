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

// How matrices are cut: into parts of their rows, and those into strips of columns.
struct Cut {
  int64_t parts = 1;
  int64_t strips = 1;
  int64_t strip = 1;  // Columns of one.
};

// Returns strips of a line of columns, or of a square's where there are few, and parts of the rows
// where even these are too few for equal shares.
Cut CutForThreads(const BatchTranspose& batch, int threads) {
  const BlockTranspose& one = batch.first;
  const int64_t enough = 2 * threads;
  Cut cut;
  for (cut.strip = kLineBytes / one.element_bytes;;) {
    cut.strips = DivideUp(one.cols, cut.strip);
    if (threads == 1 || batch.count * cut.strips >= enough) return cut;
    if (cut.strip * one.element_bytes <= 16) break;
    cut.strip = 16 / one.element_bytes;
  }
  const int64_t lines = DivideUp(one.rows, kLineBytes / one.element_bytes);
  cut.parts = std::min(DivideUp(enough, batch.count * cut.strips), lines);
  return cut;
}

// Matrices up to this size are gone through at once.
constexpr int64_t kSmallBytes = 16 << 10;

// Of a row of the input, for all rows.
constexpr int64_t kStripBytes = 256;

}  // namespace

void TransposeInStrips(const BlockTranspose& block) {
  const int64_t line = kLineBytes / block.element_bytes;
  const int64_t width = kStripBytes / block.element_bytes;
  // Fewer rows than a line has are no less work at once.
  const int64_t cols =
      block.rows < line ? std::max(width, width * width / block.rows / line * line) : width;
  BlockTranspose strip = block;
  strip.along_rows = true;
  if (!block.aligned()) strip.ahead_out = kLineBytes;
  for (int64_t col = 0; col < block.cols; col += cols) {
    strip.in = block.in + col * block.element_bytes;
    strip.out = block.out + col * block.ld_out;
    strip.cols = std::min(cols, block.cols - col);
    TransposeBlocks(strip);
  }
}

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
  const Cut cut = CutForThreads(batch, threads);
  const int64_t of_matrix = cut.parts * cut.strips;
  const int64_t total = batch.count * of_matrix;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t thread = 0; thread < threads; ++thread) {
    const int64_t end = total * (thread + 1) / threads;
    for (int64_t strip = total * thread / threads; strip < end;) {
      BlockTranspose block = one;
      const int64_t matrix = strip / of_matrix;
      block.in += matrix * batch.stride_in;
      block.out += matrix * batch.stride_out;
      if (strip % of_matrix == 0 && end - strip >= of_matrix) {
        const bool is_small = batch.bytes() <= kSmallBytes;
        const int64_t count = is_small ? (end - strip) / of_matrix : 1;
        if (is_small) {
          block.ahead = count * batch.bytes() > kFetchedBytes ? kAhead : 0;
          TransposeBlocks(block, count, batch.stride_in, batch.stride_out);
        } else {
          TransposeInStrips(block);
        }
        strip += count * of_matrix;
        continue;
      }
      // As many strips of the same rows as there are.
      const int64_t part = strip % of_matrix / cut.strips;
      const int64_t first = strip % cut.strips;
      const int64_t last = std::min(cut.strips, first + end - strip);
      const int64_t row = PartBegin(one.rows, cut.parts, part, line);
      const int64_t col = first * cut.strip;
      block.in += row * one.ld_in + col * one.element_bytes;
      block.out += col * one.ld_out + row * one.element_bytes;
      block.rows = PartBegin(one.rows, cut.parts, part + 1, line) - row;
      block.cols = std::min(one.cols, last * cut.strip) - col;
      TransposeInStrips(block);
      strip += last - first;
    }
  }
}

}  // namespace stridewise
