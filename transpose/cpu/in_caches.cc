// Transposes and copies of what the caches hold.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/crew.h"
#include "transpose/cpu/parts.h"
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

// Matrices up to this size are gone through at once.
constexpr int64_t kSmallBytes = 16 << 10;

// Of a row of the input, for all rows.
constexpr int64_t kStripBytes = 256;

// Of a row of the output. Strips of shorter ones, whose next lines are soon another row's, took up
// to twice as long on 16 cores of a Xeon as a line of columns after the other.
constexpr int64_t kShortRow = 512;

}  // namespace

void TransposeInStrips(const BlockTranspose& block) {
  if (block.rows * block.element_bytes < kShortRow) return TransposeBlocks(block);
  const int64_t line = kLineBytes / block.element_bytes;
  const int64_t cols = kStripBytes / block.element_bytes;
  BlockTranspose strip = block;
  strip.along_rows = true;
  if (!block.aligned()) strip.ahead_out = kLineBytes;
  const int64_t strips = DivideUp(block.cols, cols);
  for (int64_t i = 0; i < strips; ++i) {
    const int64_t col = WholeBegin(block.cols, strips, i, line);
    strip.in = block.in + col * block.element_bytes;
    strip.out = block.out + col * block.ld_out;
    strip.cols = WholeBegin(block.cols, strips, i + 1, line) - col;
    if (strip.cols > 0) TransposeBlocks(strip);
  }
}

int64_t PartsOfCopy(int64_t bytes, bool streams, int threads) {
  return streams ? std::max<int64_t>(threads, bytes / kStreamedPart) : threads;
}

void CopyPart(const uint8_t* from, uint8_t* to, int64_t bytes, bool streams, int64_t parts,
              int64_t i) {
  const int64_t begin = PartBegin(bytes, parts, i, kLineBytes);
  const int64_t end = PartBegin(bytes, parts, i + 1, kLineBytes);
  if (streams) {
    StreamCopy(from + begin, to + begin, end - begin);
    EndStreaming();
  } else {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  }
}

void CopyOnThreads(const uint8_t* from, uint8_t* to, int64_t bytes, bool streams, int threads) {
  const int64_t parts = PartsOfCopy(bytes, streams, threads);
  RunInCrew(threads, parts, [&](int64_t i) { CopyPart(from, to, bytes, streams, parts, i); });
}

void TransposeInCaches(const BatchTranspose& batch, int threads) {
  const Parts parts = ChooseParts(batch, threads);
  const int64_t of_matrix = parts.count();
  const int64_t total = batch.count * of_matrix;
  RunInCrew(threads, threads, [&](int64_t thread) {
    const int64_t end = total * (thread + 1) / threads;
    for (int64_t at = total * thread / threads; at < end;) {
      BlockTranspose block = batch.first;
      const int64_t matrix = at / of_matrix;
      block.in += matrix * batch.stride_in;
      block.out += matrix * batch.stride_out;
      if (of_matrix == 1 && batch.bytes() <= kSmallBytes) {
        const int64_t count = end - at;
        block.ahead = count * batch.bytes() > kFetchedBytes ? kAhead : 0;
        TransposeBlocks(block, count, batch.stride_in, batch.stride_out);
        break;
      }
      TransposePart(block, parts, at % of_matrix);
      ++at;
    }
  });
}

}  // namespace stridewise
