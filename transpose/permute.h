// Permutes the dimensions of a tensor in device memory with the fastest kernel for each shape, in
// one call: what NumPy calls transpose(order), and PyTorch permute(order).contiguous().
//
//   PermuteProblem problem;             // (batch, tokens, heads, 64) to (batch, heads, tokens, 64)
//   problem.rank = 4;
//   problem.extents = {batch, tokens, heads, 64};
//   problem.order = {0, 2, 1, 3};
//   problem.element_bytes = 2;
//   problem.in = device_in;
//   problem.out = device_out;
//   SetGaplessStrides(&problem);
//   absl::Status status = Permute(problem, stream);
//
// Dimension i of `out` is dimension order[i] of `in`, and has its extent:
// out(j[0], j[1], ...) = in(i[0], i[1], ...) with j[k] = i[order[k]]. Elements are moved, never
// interpreted. Long contiguous runs on both sides, at multiples of 16 bytes, are the fastest; short
// innermost dimensions and odd extents are packed into tiles that still load and store runs.
//
// The call queues work on the stream and returns. It allocates nothing, waits for nothing, keeps no
// state, may be captured into a graph, and may be made from any thread. Errors inside the kernel
// show at the next synchronisation.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"
#include "transpose/permute_args.h"

namespace stridewise {

// A permutation of the dimensions of a tensor. Of the arrays, the first `rank` values count.
struct PermuteProblem {
  int64_t rank = 0;                              // 0 to 6; 0 is a single element.
  std::array<int64_t, kMaxPermuteRank> extents;  // Of `in`. Any may be 0.
  std::array<int64_t, kMaxPermuteRank> order;    // Each of 0 to rank - 1 once.
  int64_t element_bytes = 4;                     // 1, 2, 4, 8 or 16.

  // Device memory, a multiple of the element's size; null only where there are no elements.
  const void* in = nullptr;
  void* out = nullptr;

  // Elements from one index to the next of each dimension of `in`, and of each dimension of `out`
  // in the order of `out`; see SetGaplessStrides(). A stride of `in` may be 0, which repeats
  // elements, and elements of `in` may be read several times; each element of `out` has memory of
  // its own: every stride is at least the span of the dimensions with smaller strides.
  std::array<int64_t, kMaxPermuteRank> strides_in;
  std::array<int64_t, kMaxPermuteRank> strides_out;
};

// Sets the strides of tensors without gaps, the last dimension the fastest.
// REQUIRES: rank, extents and order are those of a problem that Permute() takes.
void SetGaplessStrides(PermuteProblem* problem);

// Writes the elements of `in` to `out`, and nothing else. Returns InvalidArgument, naming the
// argument, its value and what is allowed, and launches nothing, for a problem that is not as its
// declaration says, for tensors of 2^63 bytes or more, and if memory of `in` and `out` overlaps.
absl::Status Permute(const PermuteProblem& problem, cudaStream_t stream);

// Returns the problem as kernels take it, or the error that Permute() returns. Without elements its
// rank is 1 and its extent 0.
absl::StatusOr<PermuteArgs> CheckedPermuteArgs(const PermuteProblem& problem);

// What Permute() does with a canonical permutation.
enum class PermuteMethod {
  kNothing,     // There are no elements.
  kCopy,        // The driver's copy of one contiguous piece.
  kTranspose,   // Transpose(), of one matrix or a batch.
  kRows,        // PermuteRows(), where the innermost dimension stays.
  kRowBytes,    // PermuteRowBytes(), where it stays and has elements of 1 or 2 bytes.
  kInterleave,  // PermuteInterleave(), of a few planes.
  kDirect,      // PermuteDirect(), of a small tensor.
  kVector,      // PermuteVector(), where both innermost dimensions are made of whole vectors.
  kFlat,        // PermuteFlat(), where the innermost dimensions of either side make long runs.
  kJoined,      // PermuteJoined(), where the run of `out` is short and that of `in` follows.
  kBlocks,      // PermuteBlocks(), where the innermost dimensions are the same few on both sides.
  kTiles,       // PermuteTiles().
};
PermuteMethod ChoosePermute(const PermuteArgs& canonical);

// Returns whether a canonical permutation is the transpose of one matrix or of a batch.
bool IsTranspose(const PermuteArgs& canonical);

// Run a canonical permutation by one method, for programs that compare them. Return InvalidArgument
// for one that the method does not take.
absl::Status PermuteByCopy(const PermuteArgs& canonical);
absl::Status PermuteByTranspose(const PermuteArgs& canonical);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_H_
