// Which schedule a batch takes, and on how many threads.

#include "transpose/cpu/batch.h"

#include <algorithm>
#include <cstdint>

#include "transpose/cpu/schedules.h"

namespace stridewise {
namespace {

// A thread is woken for no less: 5 us of a core that moves 12 GB/s.
constexpr double kMinBytesOfThread = 65536;

// Of input and output together, from which on they are moved past the caches. 16 cores of a Xeon,
// whose L2 caches have 2 MB each, copy twice as fast in them below 16 MB and half as fast above 64
// MB; of eleven transposes of 16 to 24 MB nine took 1.1 to 2.8 times as long past them.
constexpr double kMinStreamedBytes = 24 << 20;

// The same where there are few columns, whose rows are read one after the other: of twelve shapes
// of 8 to 24 MB, 16 to 48 MB together, all were faster in the caches, of 31 MB and more none.
constexpr double kMinStreamedOfFewColumns = 48 << 20;

// Returns whether a matrix is one row or column without gaps on both sides, and the batch one
// piece.
bool IsCopy(const BatchTranspose& batch) {
  const BlockTranspose& one = batch.first;
  if (one.rows != 1 && one.cols != 1) return false;
  if (one.rows == 1 && one.cols > 1 && one.ld_out != one.element_bytes) return false;
  if (one.cols == 1 && one.rows > 1 && one.ld_in != one.element_bytes) return false;
  return batch.count == 1 ||
         (batch.stride_in == batch.bytes() && batch.stride_out == batch.bytes());
}

}  // namespace

int ThreadsForBytes(double bytes, int most) {
  return static_cast<int>(std::min<double>(most, std::max(bytes / kMinBytesOfThread, 1.0)));
}

bool LeavesCaches(double bytes) { return bytes >= kMinStreamedBytes; }

void TransposeBatch(const BatchTranspose& batch, int threads) {
  if (batch.count <= 0 || batch.bytes() == 0) return;
  const double bytes = batch.moved_bytes();
  threads = ThreadsForBytes(bytes, threads);
  if (IsCopy(batch)) {
    return CopyOnThreads(batch.first.in, batch.first.out, batch.count * batch.bytes(),
                         LeavesCaches(bytes), threads);
  }
  if (!LeavesCaches(bytes)) return TransposeInCaches(batch, threads);
  if (HasContiguousOutput(batch)) return StreamContiguousOutput(batch, threads);
  if (HasFewColumns(batch)) {
    if (bytes < kMinStreamedOfFewColumns) return TransposeInCaches(batch, threads);
    return StreamFewColumns(batch, threads);
  }
  StreamTiles(batch, threads);
}

}  // namespace stridewise
