// How a batch is divided among threads, by where it lies and by what is contiguous in it.

#ifndef STRIDEWISE_TRANSPOSE_CPU_SCHEDULES_H_
#define STRIDEWISE_TRANSPOSE_CPU_SCHEDULES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "common/base/crew.h"
#include "transpose/cpu/batch.h"

namespace stridewise {

// Copies bytes, the transpose of a single row or column; past the caches where `streams`.
void CopyOnThreads(const uint8_t* from, uint8_t* to, int64_t bytes, bool streams, int threads);

// Returns the parts of a copy, and copies one of them on the calling thread.
int64_t PartsOfCopy(int64_t bytes, bool streams, int threads);
void CopyPart(const uint8_t* from, uint8_t* to, int64_t bytes, bool streams, int64_t parts,
              int64_t i);

// Transposes what the caches hold. Each thread takes the same part in every call, which its own
// caches may hold from the last one: whole rows of the output where there are enough, because a
// line that two cores write has to travel between them each time.
void TransposeInCaches(const BatchTranspose& batch, int threads);

// Transposes a block on the calling thread, in strips of 256 bytes of its columns, down all rows:
// pieces of rows of that length are read up to twice as fast as lines. Where rows of the output
// begin inside a line, the line that comes next in each is fetched. Short rows of the output are
// written whole, one after the other.
void TransposeInStrips(const BlockTranspose& block);

// Of outputs without gaps, whose rows are short: ranges of columns, or several small matrices, are
// transposed to a block in a cache, which is one contiguous piece of the output, and streamed.
void StreamContiguousOutput(const BatchTranspose& batch, int threads);

// Returns whether StreamContiguousOutput() has a block for the batch.
bool HasContiguousOutput(const BatchTranspose& batch);

// Of few columns: ranges of rows are transposed to a block, whose rows are streamed.
void StreamFewColumns(const BatchTranspose& batch, int threads);

// Returns whether StreamFewColumns() has a block for the batch.
bool HasFewColumns(const BatchTranspose& batch);

// In tiles, every line of which is transposed and streamed at once.
void StreamTiles(const BatchTranspose& batch, int threads);

inline int64_t DivideUp(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor; }

// Returns where part `i` of `parts` nearly equal ones of n begins, at a multiple of `unit`.
inline int64_t PartBegin(int64_t n, int64_t parts, int64_t i, int64_t unit) {
  return std::min(n, DivideUp(n, unit) * i / parts * unit);
}

// The same, but what is more than whole units belongs to the last part: none is shorter than a
// unit, unless n is.
inline int64_t WholeBegin(int64_t n, int64_t parts, int64_t i, int64_t unit) {
  return i == parts ? n : n / unit * i / parts * unit;
}

// Calls fn(begin, end) for groups of `group` of `count` items, which threads take in turn: one on a
// core that other work slows down takes fewer, and all are near each other in memory.
template <typename Fn>
void RunInTurn(int threads, int64_t count, int64_t group, const Fn& fn) {
  const int64_t groups = DivideUp(count, group);
  std::atomic<int64_t> next{0};
  RunInCrew(threads, std::min<int64_t>(threads, groups), [&](int64_t /*thread*/) {
    for (int64_t i = next.fetch_add(1); i < groups; i = next.fetch_add(1)) {
      fn(i * group, std::min(count, (i + 1) * group));
    }
  });
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_SCHEDULES_H_
