// The alignment of the rows of a transpose's matrices and the gaps between them, which decide how
// wide accesses may be.

#ifndef STRIDEWISE_TRANSPOSE_ALIGNMENT_H_
#define STRIDEWISE_TRANSPOSE_ALIGNMENT_H_

#include <cstdint>

#include "transpose/args.h"

namespace stridewise {

// Returns whether the address is a multiple of `bytes`.
inline bool IsAt(const void* data, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0;
}

// Returns whether every row of every matrix of `in` begins at a multiple of `bytes`.
inline bool InRowsAreAt(const TransposeArgs& args, int64_t bytes) {
  const int64_t size = args.element_bytes;
  return IsAt(args.in, bytes) && args.ld_in * size % bytes == 0 &&
         (args.batch <= 1 || args.stride_in * size % bytes == 0);
}

// Returns the same for `out`.
inline bool OutRowsAreAt(const TransposeArgs& args, int64_t bytes) {
  const int64_t size = args.element_bytes;
  return IsAt(args.out, bytes) && args.ld_out * size % bytes == 0 &&
         (args.batch <= 1 || args.stride_out * size % bytes == 0);
}

// Returns whether all rows begin and end at multiples of `bytes`, on both sides: the matrices are
// made of whole pieces of that size.
inline bool IsMadeOf(const TransposeArgs& args, int64_t bytes) {
  return InRowsAreAt(args, bytes) && OutRowsAreAt(args, bytes) &&
         args.rows * args.element_bytes % bytes == 0 && args.cols * args.element_bytes % bytes == 0;
}

// Returns whether there is no byte between rows, nor between matrices, on either side.
inline bool IsGapless(const TransposeArgs& args) {
  const int64_t elements = args.rows * args.cols;
  return args.ld_in == args.cols && args.ld_out == args.rows && args.stride_in == elements &&
         args.stride_out == elements;
}

// Returns whether the matrices are what weave_rows.cu takes: a batch without gaps of a few rows of
// bytes, and not fewer columns than three bytes of `out` may be of.
inline bool HasRowsToWeave(const TransposeArgs& args) {
  constexpr int64_t kMostBytes = 28 << 10;
  return args.element_bytes == 1 && args.batch > 1 && IsGapless(args) && args.rows >= 2 &&
         args.rows <= 13 && args.cols >= 2 && args.rows * args.cols <= kMostBytes;
}

// Returns whether the matrices are what tile_strips.cu takes: rows of `in` that are whole vectors,
// and out rows that follow each other without gaps and are whole words or 2-byte elements, not too
// many to hold a sector of each row of `in` on a multiprocessor of any kind.
inline bool HasStripsOfVectors(const TransposeArgs& args) {
  constexpr int64_t kMostBytes = 48 << 10;
  const int64_t size = args.element_bytes;
  return size <= 4 && args.rows > 0 && args.batch > 0 && InRowsAreAt(args, 16) &&
         args.cols * size % 16 == 0 && args.ld_out == args.rows &&
         (size == 2 || args.rows * size % 4 == 0) && IsAt(args.out, 16) &&
         (args.batch == 1 || args.stride_out * size % 16 == 0) && args.rows * 32 <= kMostBytes;
}

// Returns whether the matrices are what tile_flat.cu takes: 32 rows and more, of which the shared
// memory of a block holds some chunks each, 90 KB, and out rows that follow each other without
// gaps.
inline bool HasFlatTiles(const TransposeArgs& args) {
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  const int64_t most = args.element_bytes <= 2 ? 700 : args.element_bytes == 4 ? 400 : 0;
  return args.rows >= 32 && args.rows <= most && args.batch > 0 && args.ld_out == args.rows &&
         args.cols < kMostBlocks && args.cols / 8 + 1 <= kMostBlocks / args.batch;
}

// Returns whether `planes` runs of `length` elements are what few_planes.cu takes: few, of whole
// vectors, and small elements. On the other side their elements are one contiguous piece.
inline bool ArePlanes(const TransposeArgs& args, int64_t planes, int64_t length) {
  constexpr int64_t kVector = 16;
  constexpr int64_t kMostVectors = int64_t{1} << 31;
  const int64_t bytes = length * args.element_bytes;
  return planes >= 2 && planes <= 4 && args.element_bytes <= 4 && bytes > 0 && args.batch > 0 &&
         bytes % kVector == 0 && bytes / kVector < kMostVectors / args.batch;
}

// Returns whether the matrices have a few rows of whole vectors, and out rows without gaps.
inline bool HasRowsAsPlanes(const TransposeArgs& args) {
  return ArePlanes(args, args.rows, args.cols) && InRowsAreAt(args, 16) && IsAt(args.out, 16) &&
         args.ld_out == args.rows && (args.batch == 1 || args.stride_out == args.rows * args.cols);
}

// Returns whether the matrices have a few columns of whole vectors, and rows of `in` without gaps.
inline bool HasColumnsAsPlanes(const TransposeArgs& args) {
  return ArePlanes(args, args.cols, args.rows) && OutRowsAreAt(args, 16) && IsAt(args.in, 16) &&
         args.ld_in == args.cols && (args.batch == 1 || args.stride_in == args.rows * args.cols);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_ALIGNMENT_H_
