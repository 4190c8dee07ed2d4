// How a permutation is cut into tiles where the innermost dimensions of `in` are others than those
// of `out`, for library/permute_flat.cu.
//
// All innermost dimensions of `out` that are contiguous there are taken as one, of `rows`, and all
// innermost ones of `in` as another, of `columns`: the permutation is then a batch of transposes of
// matrices whose rows and columns lie anywhere. Tiles are cut at any element of a run, as in
// tile_ragged.cu, and not where a dimension ends, as in permute_plan.h: 197 bytes that two tiles
// share, or that begin inside a sector, are no end of a run of `out`.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_FLAT_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_FLAT_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"
#include "transpose/permute_runs.h"

namespace stridewise {

struct PermuteFlatPlan {
  FlatDimension rows;     // Contiguous in `out`.
  FlatDimension columns;  // Contiguous in `in`.
  FlatDimension batch;    // The others.

  int tile_rows = 1;  // From one tile to the next.
  int rows_held = 1;  // More than that where stores begin at sectors.
  int tile_columns = 1;
  int in_chunks = 1;     // The most 16-byte chunks of a row.
  int pitch = 16;        // Bytes from row to row in shared memory,
  int log2_spread = 31;  // and after each 2^log2_spread rows 16 more.

  // A block's number has these digits, the fastest first: a few neighbouring tiles of columns,
  // which share sectors, tiles of rows, the other tiles of columns, the batch.
  uint32_t group = 1;
  uint32_t row_tiles = 1;
  uint32_t column_groups = 1;
  BlockDivisor by_group = BlockDivisor();
  BlockDivisor by_row_tiles = BlockDivisor();
  BlockDivisor by_column_groups = BlockDivisor();
  int64_t blocks = 1;

  bool at_sectors = false;   // Whether all out rows of tiles begin at sectors of 32 bytes,
  bool shifts = false;       // and if not, whether parts of out rows do.
  bool whole_begin = false;  // Whether the first tile of rows begins with whole vectors,
  bool whole_end = false;    // and whether the last ends with one.

  int threads = 256;
  // Logarithm of the distance between the columns of a warp, which begin in different banks then.
  int log2_apart = 0;
  SmallDivisor by_chunks = SmallDivisor(1);
  int table_rows = 8;    // Rows that tables have room for, a multiple of 8.
  int tile_bytes = 0;    // Of shared memory; tables of rows and columns follow.
  int shared_bytes = 0;  // All together, and what keeps further blocks off a multiprocessor.
};

// The most threads of a block, for which the kernel has registers.
template <int kElementBytes>
inline constexpr int kMostFlatThreads = kElementBytes == 1 ? 256 : 512;

// What tiles are chosen by.
struct PermuteFlatLimits {
  int row_bytes = 256;             // Of a tile's part of an out row,
  int column_bytes = 128;          // and of a row of `in`, where the runs are long enough.
  int most_bytes = 40 << 10;       // Of shared memory for a tile.
  int least_bytes = 6 << 10;       // The same where the tensor is small.
  int blocks_of_device = 528;      // Of a tensor that is large enough, at least.
  int resident_bytes = 176 << 10;  // Of all blocks of a multiprocessor; the rest is its L1 cache.
  int threads = 256;
  int group = 4;
};

// Returns whether the permutation, which Canonical() returned, has innermost dimensions on either
// side that are none on the other.
bool IsFlat(const PermuteArgs& args);

// Returns whether both of these runs are so long that permute_flat is faster than permute_tile.
bool HasFlatRuns(const PermuteArgs& args);

// Returns the limits that are the best for these elements.
PermuteFlatLimits FlatLimitsFor(const PermuteArgs& args);

// REQUIRES: IsFlat(args).
PermuteFlatPlan MakePermuteFlatPlan(const PermuteArgs& args, const PermuteFlatLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_FLAT_PLAN_H_
