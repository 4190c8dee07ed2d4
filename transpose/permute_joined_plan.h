// How a permutation is cut into tiles where the run of `out` is short and ends where the innermost
// dimension of `in` goes on, for library/permute_joined.cu: 5 x 8 rows of bytes, and in `out`
// behind them the 28 columns that are contiguous in `in`.
//
// permute_flat.cu would store 28 rows of 40 bytes each, with two ends. They are one contiguous part
// of 1120 bytes: a tile has all rows, and its part of `out` is one part, or several, each of whole
// columns that are joined.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_JOINED_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_JOINED_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"
#include "transpose/permute_runs.h"

namespace stridewise {

struct PermuteJoinedPlan {
  FlatDimension rows;     // Contiguous in `out`; a tile has all.
  FlatDimension columns;  // Contiguous in `in`; the first digit goes on in `out` behind the rows.
  FlatDimension batch;    // The others.

  // A tile has the columns of some whole periods, which are the values of the first digit, or of
  // one of the pieces of a period.
  uint32_t period = 1;     // Columns from one such unit to the next.
  uint32_t pieces = 1;     // Tiles of it.
  int tile_columns = 1;    // The most columns of a tile,
  int joined_columns = 1;  // and of a part of `out`.
  uint32_t column_tiles = 1;
  int64_t blocks = 1;
  BlockDivisor by_pieces = BlockDivisor();
  BlockDivisor by_column_tiles = BlockDivisor();

  int in_chunks = 1;  // The most 16-byte chunks of a row.
  int pitch = 16;  // Bytes from row to row in shared memory; a vector's rows further, a chunk more.
  // Vectors of a part from one of a thread to its next, which begins in the same row turn_columns
  // further; all vectors of a part where elements are larger than bytes.
  int turn = 1;
  int turn_columns = 1;
  SmallDivisor by_chunks = SmallDivisor(1);
  SmallDivisor by_rows = SmallDivisor(1);
  SmallDivisor by_turn = SmallDivisor(1);
  bool whole = false;  // Whether parts of `out` are made of whole vectors.

  int threads = 128;
  int table_rows = 8;  // Rows and those that a vector goes on with, a multiple of 8.
  int tile_bytes = 0;  // Of shared memory; tables of rows and parts follow.
  int shared_bytes = 0;
};

// What tiles are chosen by.
struct PermuteJoinedLimits {
  int most_bytes = 20 << 10;   // Of shared memory for a tile.
  int row_bytes = 1 << 10;     // Of a row of `in`,
  int enough_bytes = 6 << 10;  // or more where a tile of such rows has fewer bytes than this.
  int least_bytes = 4 << 10;   // The same as most_bytes where the tensor is small.
  int blocks_of_device = 1056;
  int threads = 256;
};

// Returns whether columns of the permutation, which Canonical() returned, can be joined.
bool CanJoinColumns(const PermuteArgs& args);

// Returns whether permute_joined is faster than permute_tile and permute_flat.
bool JoinsColumns(const PermuteArgs& args);

// Returns the limits that are best for it, with smaller tiles for smaller tensors: on an H100
// `209x41x5x575:1032` of 1 byte has 0.85 of a copy with these, and 0.64 with larger ones.
PermuteJoinedLimits JoinedLimitsFor(const PermuteArgs& args);

// REQUIRES: CanJoinColumns(args).
PermuteJoinedPlan MakePermuteJoinedPlan(const PermuteArgs& args, const PermuteJoinedLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_JOINED_PLAN_H_
