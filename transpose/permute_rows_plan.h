// How a permutation that keeps its innermost dimension is taken, for library/permute_rows.cu.
//
// BSHD to BHSD moves rows of a head. There is nothing to exchange: every thread can load a vector
// of a row and store it. Elements are taken in the order of `out`. In boxes of neighbouring rows of
// both sides, 0.5 to 8 KB long, they were up to 28 points of a copy's speed slower.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_ROWS_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_ROWS_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"

namespace stridewise {

// A digit of an element's number, with strides in bytes.
struct RowsDigit {
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  uint32_t count = 1;
  BlockDivisor by_count = BlockDivisor();
};

struct PermuteRowsPlan {
  int digits = 0;
  RowsDigit digit[kMaxPermuteRank];  // The fastest first.
  uint32_t elements = 0;
};

// Returns whether the permutation, which Canonical() returned, keeps rows that are long enough, in
// elements that are large enough, for permute_rows.
bool KeepsRows(const PermuteArgs& args);

// Returns whether it keeps rows of 16 bytes and more in smaller elements, of which
// permute_row_bytes makes an `out` without gaps.
bool KeepsRowsOfBytes(const PermuteArgs& args);

// Returns whether `out` is one contiguous piece of less than 2^31 elements.
bool HasGaplessOut(const PermuteArgs& args);

// Returns whether `out` has no gaps and begins at a word, of the canonical permutation.
bool IsDirect(const PermuteArgs& args);

// Returns the bytes of the words by which permute_interleave takes the canonical permutation, or 0
// where its innermost dimensions are not two to four planes of words of `in`, or are all that it
// has.
int64_t InterleavedBytes(const PermuteArgs& args);

// REQUIRES: KeepsRows(args) or IsDirect(args).
PermuteRowsPlan MakePermuteRowsPlan(const PermuteArgs& args);

// Returns the same of the bytes that the elements have. REQUIRES: KeepsRowsOfBytes(args).
PermuteRowsPlan MakePermuteRowBytesPlan(const PermuteArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_ROWS_PLAN_H_
