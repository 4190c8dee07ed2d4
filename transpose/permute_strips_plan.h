// How a permutation is cut into tiles where the run of `in` is short and ends where the innermost
// dimension of `out` goes on, for library/permute_strips.cu: 7 channels that become planes, of any
// rows and batches. It is permute_joined_plan.h with loads and stores exchanged: a tile has all
// columns, its part of `in` is one contiguous part, or several, each of whole rows, and its part of
// `out` a strip for each column.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_STRIPS_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_STRIPS_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"
#include "transpose/permute_runs.h"

namespace stridewise {

struct PermuteStripsPlan {
  FlatDimension rows;  // Contiguous in `out`; the first digit goes on in `in` behind the columns.
  FlatDimension columns;  // Contiguous in `in`; a tile has all.
  FlatDimension batch;    // The others.

  // A tile has the rows of some whole periods, which are the values of the first digit, or of one
  // of the pieces of a period.
  uint32_t period = 1;  // Rows from one such unit to the next.
  uint32_t pieces = 1;  // Tiles of it.
  int tile_rows = 1;    // The most rows of a tile,
  int part_rows = 1;    // and of a part of `in`.
  uint32_t row_tiles = 1;
  int64_t blocks = 1;
  BlockDivisor by_pieces = BlockDivisor();
  BlockDivisor by_row_tiles = BlockDivisor();

  int in_chunks = 1;  // The most 16-byte chunks that a part of `in` lies in.
  int vectors = 1;    // The most vectors that a strip of `out` lies in.
  SmallDivisor by_chunks = SmallDivisor(1);
  SmallDivisor by_part_rows = SmallDivisor(1);
  SmallDivisor by_vectors = SmallDivisor(1);
  bool whole = false;  // Whether strips are made of whole vectors.

  int threads = 128;
  int tile_bytes = 0;  // Of shared memory; tables of parts and columns follow.
  int shared_bytes = 0;
};

// What tiles are chosen by.
struct PermuteStripsLimits {
  int most_bytes = 12 << 10;  // Of shared memory for a tile.
  int least_bytes = 4 << 10;  // The same where the tensor is small.
  int strip_bytes = 2 << 10;  // Of a strip.
  int blocks_of_device = 1056;
  int threads = 128;
};

// Returns whether the permutation, which Canonical() returned, can be cut into strips.
bool CanCutStrips(const PermuteArgs& args);

// Returns whether permute_strips is faster than permute_tile and permute_flat.
bool CutsStrips(const PermuteArgs& args);

// REQUIRES: CanCutStrips(args).
PermuteStripsPlan MakePermuteStripsPlan(const PermuteArgs& args, const PermuteStripsLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_STRIPS_PLAN_H_
