// How a permutation is cut into tiles where the innermost dimension of `out` and that of `in` are
// different and both made of whole vectors, for library/permute_vector.cu: a transpose of matrices,
// in a batch of any dimensions, in whatever order these lie on either side.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_VECTOR_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_VECTOR_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"

namespace stridewise {

// A digit of a block's number: tiles along a dimension, or the indices of one of the batch.
struct VectorDigit {
  int64_t in = 0;  // Bytes from one to the next, on either side,
  int64_t out = 0;
  int rows = 0;  // and rows and columns of the matrix.
  int columns = 0;
  uint32_t count = 1;
  BlockDivisor by_count = BlockDivisor();
};

struct PermuteVectorPlan {
  VectorDigit digit[kMaxPermuteRank];  // The fastest first.
  int digits = 0;
  int64_t blocks = 1;

  // The matrix: rows are contiguous in `in`, columns in `out`.
  int64_t in_row_bytes = 0;  // From one row to the next, in `in`
  int64_t out_row_bytes = 0;
  int rows = 0;
  int columns = 0;

  // A tile: columns of 2^log2_groups vectors each.
  int log2_groups = 3;
  int tile_rows = 0;
  int tile_columns = 0;
  int vectors = 1;  // Of a row of `in`.
  SmallDivisor by_vectors = SmallDivisor(1);
  int threads = 256;
  int shared_bytes = 0;
};

// What tiles are chosen by.
struct PermuteVectorLimits {
  int log2_groups = 3;     // Of the vectors of a tile's part of an out row, or fewer where it is
  int column_bytes = 128;  // short; and the most bytes of its part of a row of `in`.
  int threads = 256;
};

// Returns whether permute_vector takes the permutation, which Canonical() returned.
bool IsMadeOfVectors(const PermuteArgs& args);

// Returns whether it is the fastest.
bool PrefersVectors(const PermuteArgs& args);

// Returns the limits that are the best for these elements.
PermuteVectorLimits VectorLimitsFor(const PermuteArgs& args);

// REQUIRES: IsMadeOfVectors(args).
PermuteVectorPlan MakePermuteVectorPlan(const PermuteArgs& args, const PermuteVectorLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_VECTOR_PLAN_H_
