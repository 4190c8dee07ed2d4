// A permutation of dimensions as kernels receive it: the dimensions of the elements that move, each
// with a stride on either side. Callers outside the house use permute.h.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_ARGS_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_ARGS_H_

#include <cstdint>

#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_status.h"

namespace stridewise {

struct PermuteBlocksLimits;  // Of permute_blocks_plan.h.
struct PermuteTileLimits;    // Of permute_plan.h.
struct PermuteFlatLimits;    // Of permute_flat_plan.h.
struct PermuteJoinedLimits;  // Of permute_joined_plan.h.
struct PermuteVectorLimits;  // Of permute_vector_plan.h.

inline constexpr int kMaxPermuteRank = 6;

// One dimension. The element at index i of it lies i * stride_in elements after the first element
// of `in`, and i * stride_out elements after the first of `out`.
struct PermuteDimension {
  int64_t extent = 1;
  int64_t stride_in = 0;
  int64_t stride_out = 0;
};

struct PermuteArgs {
  int rank = 0;
  PermuteDimension dims[kMaxPermuteRank];
  int64_t element_bytes = 4;  // 1, 2, 4, 8 or 16.
  const void* in = nullptr;   // Borrowed; a multiple of the element's size, as `out` is.
  void* out = nullptr;
  // Of the tiles, for tests and searches; null: those that were measured.
  const PermuteTileLimits* limits = nullptr;
  const PermuteFlatLimits* flat_limits = nullptr;
  const PermuteJoinedLimits* joined_limits = nullptr;
  const PermuteBlocksLimits* blocks_limits = nullptr;
  const PermuteVectorLimits* vector_limits = nullptr;
  cudaStream_t stream = nullptr;
};

// Returns the number of elements.
int64_t Elements(const PermuteArgs& args);

// Returns the bytes from the first element of `in` to the end of the last. REQUIRES: there are any.
inline int64_t SpanBytesOfIn(const PermuteArgs& args) {
  int64_t last = 0;
  for (int d = 0; d < args.rank; ++d) last += (args.dims[d].extent - 1) * args.dims[d].stride_in;
  return (last + 1) * args.element_bytes;
}

// Returns the same permutation with the fewest dimensions and the largest elements: dimensions of
// extent 1 are dropped, neighbours on both sides become one dimension, and the elements of an
// innermost dimension without gaps on both sides become larger elements of up to 16 bytes, as far
// as alignment allows. Dimensions are sorted by their stride in `out`, the smallest first.
// REQUIRES: no extent is 0.
PermuteArgs Canonical(const PermuteArgs& args);

// Sorts a few items in place, and keeps the order of equal ones: std::stable_sort() allocates.
template <typename T, typename Less>
void SortFew(T* items, int count, Less less) {
  for (int i = 1; i < count; ++i) {
    const T item = items[i];
    int at = i;
    for (; at > 0 && less(item, items[at - 1]); --at) items[at] = items[at - 1];
    items[at] = item;
  }
}

// Moves rows of elements, which stay together. REQUIRES: KeepsRows(args) of permute_rows_plan.h.
LaunchStatus PermuteRows(const PermuteArgs& args);

// Moves rows of elements of 1 and 2 bytes, which stay together and begin anywhere.
// REQUIRES: KeepsRowsOfBytes(args) of permute_rows_plan.h.
LaunchStatus PermuteRowBytes(const PermuteArgs& args);

// Interleaves two to four planes. REQUIRES: InterleavedBytes(args) of permute_rows_plan.h is not 0.
LaunchStatus PermuteInterleave(const PermuteArgs& args);

// Gathers words of `out` from `in`. REQUIRES: IsDirect(args) of permute_rows_plan.h.
LaunchStatus PermuteDirect(const PermuteArgs& args);

// Moves the elements through tiles of whole vectors.
// REQUIRES: IsMadeOfVectors(args) of permute_vector_plan.h.
LaunchStatus PermuteVector(const PermuteArgs& args);

// Moves the elements through tiles that are cut anywhere in a run of dimensions.
// REQUIRES: IsFlat(args) of permute_flat_plan.h.
LaunchStatus PermuteFlat(const PermuteArgs& args);

// Moves the elements through tiles whose columns are joined in `out`.
// REQUIRES: CanJoinColumns(args) of permute_joined_plan.h.
LaunchStatus PermuteJoined(const PermuteArgs& args);

// Moves blocks of elements that are contiguous on both sides.
// REQUIRES: HasBlocks(args) of permute_blocks_plan.h.
LaunchStatus PermuteBlocks(const PermuteArgs& args);

// Moves the elements through tiles in shared memory. Takes what Canonical() returns, of any rank.
LaunchStatus PermuteTiles(const PermuteArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_ARGS_H_
