// The runs of a permutation: dimensions that are contiguous in `in` or in `out` and are taken as
// one there, for permute_flat_plan.h and permute_joined_plan.h.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_RUNS_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_RUNS_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"

namespace stridewise {

// A dimension of rows, of columns or of the batch, with strides in bytes.
struct FlatDigit {
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  uint32_t count = 1;
  BlockDivisor by_count = BlockDivisor();
};

// Some dimensions that are taken as one, the fastest first.
struct FlatDimension {
  int digits = 0;
  FlatDigit digit[kMaxPermuteRank];
  uint32_t extent = 1;
};

// The dimensions of either run, as bits of their numbers in the permutation's arguments.
struct PermuteRuns {
  unsigned columns = 0;  // Of `in`.
  unsigned rows = 0;     // Of `out`; none where no dimension is only in this run.
};

// Returns the runs that share the fewest sectors with others.
PermuteRuns SplitIntoRuns(const PermuteArgs& args);

// Returns the elements of these dimensions.
int64_t RunElements(const PermuteArgs& args, unsigned dims);

// Returns these dimensions, sorted by their stride in `out`, or in `in` for columns.
FlatDimension FlatOf(const PermuteArgs& args, unsigned dims, int64_t FlatDigit::*stride);

// Returns the greatest common divisor of `start` and the strides of a dimension.
int64_t GcdOfStrides(const FlatDimension& dimension, int64_t FlatDigit::*stride, int64_t start);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_RUNS_H_
