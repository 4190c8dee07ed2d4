// A permutation is copies of runs where the innermost dimension stays, and transposes of the
// innermost dimensions of both sides where it does not: one for each index of the others.

#include "transpose/cpu/permute.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/crew.h"
#include "transpose/cpu/batch.h"
#include "transpose/cpu/dimension_walk.h"
#include "transpose/cpu/run_writer.h"
#include "transpose/cpu/schedules.h"

namespace stridewise {
namespace {

// Longer runs are divided, so that each thread has some.
constexpr int64_t kRunBytes = 64 << 10;

// What is fetched of the next run.
constexpr int64_t kFetched = 1024;

// From this size on transposes are divided among threads one by one; shorter ones are items.
constexpr int64_t kBatchBytes = 8 << 20;

// An item that is streamed by way of a block.
constexpr int64_t kBlockBytes = 64 << 10;

struct Sides {
  const uint8_t* in;
  uint8_t* out;
};

Sides SidesOf(const PermuteArgs& args) {
  return {static_cast<const uint8_t*>(args.in), static_cast<uint8_t*>(args.out)};
}

// Calls move(walk, count) on each thread, with where its share of all indices begins.
template <typename Move>
void ForShares(const DimensionWalk& whole, int threads, Move move) {
  const int64_t total = whole.count();
  RunInCrew(threads, threads, [&](int64_t thread) {
    DimensionWalk walk = whole;
    const int64_t begin = total * thread / threads;
    walk.GoTo(begin);
    move(walk, total * (thread + 1) / threads - begin);
  });
}

// The innermost dimension has no gaps on both sides.
void CopyRuns(const PermuteArgs& args, bool streams, int threads) {
  const Sides sides = SidesOf(args);
  const int64_t run = args.dims[0].extent * args.element_bytes;
  DimensionWalk walk;
  for (int d = 1; d < args.rank; ++d) walk.Add(args.dims[d], args.element_bytes);
  const int64_t pieces = walk.count() < 4 * threads ? DivideUp(run, kRunBytes) : 1;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    const int64_t begin = PartBegin(run, pieces, piece, 64);
    const int64_t bytes = PartBegin(run, pieces, piece + 1, 64) - begin;
    ForShares(walk, threads, [&](DimensionWalk at, int64_t count) {
      RunWriter writer(streams);
      DimensionWalk next = at;
      for (; count > 0; --count, at = next) {
        // The processor follows a run, and not from one to the next.
        next.Next();
        for (int64_t b = 0; b < std::min(bytes, kFetched); b += 64) {
          __builtin_prefetch(sides.in + next.in() + begin + b);
        }
        writer.Write(sides.in + at.in() + begin, sides.out + at.out() + begin, bytes);
      }
    });
  }
}

// Dimension `col` has no gaps in `in`, the first one none in `out`.
void TransposeItems(const PermuteArgs& args, int col, bool streams, int threads) {
  const int64_t element = args.element_bytes;
  const Sides sides = SidesOf(args);
  const BlockTranspose item = {sides.in,
                               args.dims[0].stride_in * element,
                               sides.out,
                               args.dims[col].stride_out * element,
                               args.dims[0].extent,
                               args.dims[col].extent,
                               element};
  int longest = -1;  // Of the other dimensions.
  for (int d = 1; d < args.rank; ++d) {
    if (d != col && (longest < 0 || args.dims[d].extent > args.dims[longest].extent)) longest = d;
  }
  BatchTranspose batch = {item};
  if (longest >= 0) {
    const PermuteDimension& dim = args.dims[longest];
    batch = {item, dim.extent, dim.stride_in * element, dim.stride_out * element};
  }
  const bool is_large = batch.count * batch.bytes() >= kBatchBytes;
  DimensionWalk walk;
  for (int d = 1; d < args.rank; ++d) {
    if (d != col && (!is_large || d != longest)) walk.Add(args.dims[d], element);
  }
  if (is_large || args.rank <= 3) {
    if (!is_large) walk = DimensionWalk();
    for (int64_t i = 0; i < walk.count(); ++i, walk.Next()) {
      BatchTranspose part = batch;
      part.first.in += walk.in();
      part.first.out += walk.out();
      TransposeBatch(part, threads);
    }
    return;
  }
  const int64_t bytes = batch.bytes();
  const bool contiguous = item.ld_out == item.rows * element && bytes <= kBlockBytes;
  ForShares(walk, threads, [&](DimensionWalk at, int64_t count) {
    RunWriter writer(streams);
    for (; count > 0; --count, at.Next()) {
      BlockTranspose one = item;
      one.in += at.in();
      one.out =
          streams && contiguous ? writer.Place(one.out + at.out(), bytes) : one.out + at.out();
      TransposeInStrips(one);
    }
  });
}

template <int kBytes>
void CopyElements(const PermuteArgs& args, int threads) {
  const Sides sides = SidesOf(args);
  DimensionWalk walk;
  for (int d = 0; d < args.rank; ++d) walk.Add(args.dims[d], kBytes);
  ForShares(walk, threads, [&](DimensionWalk at, int64_t count) {
    for (; count > 0; --count, at.Next()) {
      std::memcpy(sides.out + at.out(), sides.in + at.in(), kBytes);
    }
  });
}

// Either side has gaps between its closest elements, or `in` repeats them.
void CopyElements(const PermuteArgs& args, int threads) {
  switch (args.element_bytes) {
    case 1:
      return CopyElements<1>(args, threads);
    case 2:
      return CopyElements<2>(args, threads);
    case 4:
      return CopyElements<4>(args, threads);
    case 8:
      return CopyElements<8>(args, threads);
    default:
      return CopyElements<16>(args, threads);
  }
}

}  // namespace

void PermuteOnThreads(const PermuteArgs& given, int threads) {
  if (Elements(given) == 0) return;
  const PermuteArgs args = Canonical(given);
  const double bytes =
      2.0 * static_cast<double>(Elements(args)) * static_cast<double>(args.element_bytes);
  const bool streams = LeavesCaches(bytes);
  threads = ThreadsForBytes(bytes, threads);
  if (args.rank == 0 || args.dims[0].stride_out != 1) return CopyElements(args, threads);
  if (args.dims[0].stride_in == 1) {
    if (args.rank > 1) return CopyRuns(args, streams, threads);
    const Sides sides = SidesOf(args);
    return CopyOnThreads(sides.in, sides.out, args.dims[0].extent * args.element_bytes, streams,
                         threads);
  }
  for (int d = 1; d < args.rank; ++d) {
    if (args.dims[d].stride_in == 1) return TransposeItems(args, d, streams, threads);
  }
  CopyElements(args, threads);
}

}  // namespace stridewise
