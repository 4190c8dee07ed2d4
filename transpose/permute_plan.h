// How a permutation is cut into tiles, for library/permute_tile.cu.
//
// A tile is a box of elements. It is so long along the innermost dimensions of `in`, and along
// those of `out`, that both its loads and its stores are long contiguous runs. Where an innermost
// dimension is short (3 channels, 12 heads), the run goes on through the next ones: Ruetsch and
// Micikevicius' tile for a matrix becomes the "packed" tile of Hynninen and Lyakh, "cuTT: A
// High-Performance Tensor Transpose Library for CUDA Compatible GPUs", arXiv 1705.01598.
//
// In shared memory a tile has a distance (pitch) for each dimension, congruent modulo 16 to the
// dimension's stride in `in`: loads are then copies of whole 16-byte chunks, whatever the alignment
// of a run, as tile_ragged.cu explains.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "common/base/matrix.h"
#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"

namespace stridewise {

// One dimension of a tile, with strides in bytes.
struct TileDimension {
  int64_t extent = 1;
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  int tile = 1;   // Indices from one tile to the next.
  int held = 1;   // Indices that a tile holds: more than `tile` where stores begin at sectors.
  int pitch = 0;  // Bytes from one index to the next in shared memory.
  uint32_t tiles = 1;
  SmallDivisor by_held = SmallDivisor(1);
};

// Some dimensions of a plan, the fastest first.
struct DimensionList {
  int count = 0;
  int dims[kMaxPermuteRank] = {};
};

// A dimension of rows or of a run, in the order in which their numbers count, as a block reads it:
// at places of the plan that are known when it is compiled.
struct RowDigit {
  int64_t stride = 0;  // Bytes from one index to the next, in `in` for its rows, else in `out`.
  int dim = 0;
  int held = 1;
  int pitch = 0;
  SmallDivisor by_held = SmallDivisor(1);
};

// A digit of a block's number, which has `count` values, each `step` tiles of a dimension apart.
struct TileDigit {
  int dim = 0;
  uint32_t count = 1;
  uint32_t step = 1;
  BlockDivisor by_faster = BlockDivisor();  // The product of the faster digits' counts.
  BlockDivisor by_count = BlockDivisor();
};

// Lists of out rows that a tile has at most; see PermutePlan::log2_lists.
inline constexpr int kMaxOutLists = 128;

// Elements of a packed out run whose places in the tile a thread finds together.
// With an even number of words, threads would store places to the same banks.
inline constexpr int kPieceElements = 10;

// A rotation_shift with which no thread of a block has a rotation.
inline constexpr int kNoRotation = 16;

struct PermutePlan {
  int rank = 0;
  TileDimension dims[kMaxPermuteRank];  // By their stride in `in`, the smallest first.

  DimensionList in_run;    // Form one contiguous run of `in`; only the last may be cut.
  DimensionList in_rows;   // The other dimensions that a tile has more than one index of.
  DimensionList out_run;   // The same for `out`,
  DimensionList out_rows;  // sorted by their stride in `in`, too.

  RowDigit in_row[kMaxPermuteRank];  // The digits of the lists above.
  RowDigit out_row[kMaxPermuteRank];
  RowDigit out_element[kMaxPermuteRank];  // Of out_run.

  int digits = 0;  // Of a block's number, the fastest first.
  TileDigit digit[kMaxPermuteRank + 1];
  int64_t blocks = 0;

  int in_rows_held = 1;
  int in_chunks = 1;  // The most 16-byte chunks of a row.
  int out_rows_held = 1;
  int out_run_held = 1;     // Elements.
  int out_cut = -1;         // The dimension of out_run that is cut, or -1.
  int out_cut_below = 1;    // Elements of an out run for one index of that dimension.
  bool out_shifts = false;  // Whether a tile's part of an out run begins at a sector of 32 bytes.

  bool out_packed = false;  // Whether an out run has several dimensions in the tile.
  bool out_words = false;   // Whether all rows of it have their words alike, of small elements.
  int out_pieces = 1;       // Of a packed run's first dimension, kPieceElements each.
  SmallDivisor by_pieces = SmallDivisor(1);
  bool out_ends = false;  // Whether out runs may begin or end inside a vector.

  // Out rows whose addresses are the same modulo 32 are of one class: they are cut into vectors
  // alike. Each class has the same number of lists of rows.
  int log2_class_bytes = 5;  // Of the bytes that addresses of rows differ by, modulo 32.
  int log2_lists = 0;        // Of the number of all lists.
  int log2_neighbours = 2;   // Of the threads that take neighbouring vectors of the same rows.
  int out_vectors = 1;       // The most vectors that a row has,
  int out_groups = 1;        // and the most groups of 1 << log2_neighbours of them.
  int rotation_mask = 0;     // See RotationOf().
  int rotation_shift = kNoRotation;

  int threads = 256;
  SmallDivisor by_chunks = SmallDivisor(1);

  int tile_bytes = 0;    // Of shared memory, a multiple of 16; tables of the rows follow.
  int shared_bytes = 0;  // All together, and what keeps further blocks off a multiprocessor.
};

// What tiles are chosen by; the defaults are measured on an H200.
struct PermuteTileLimits {
  int most_bytes = 36 << 10;       // Of shared memory for a tile.
  int least_bytes = 6 << 10;       // The same where the tensor is small.
  int blocks_of_device = 528;      // Of a tensor that is large enough, at least.
  int resident_bytes = 176 << 10;  // Of all blocks of a multiprocessor; the rest is its L1 cache.
  // Of an out run, after which further dimensions are rows: a block makes a table of the elements
  // of a run, which all rows use.
  int enough_run_bytes = 256;
  int threads = 256;
  bool shift = true;  // Whether stores begin at sectors.
  int group = 4;  // Neighbouring tiles along in's innermost dimension that run one after the other.
  int out_quarters = 4;  // Length of the runs of `out`, in quarters of that of the runs of `in`.
  bool lanes = false;    // Whether ChooseLanes() of permute_lanes.h follows.
};

inline constexpr int kLog2SectorBytes = 5;

// Returns the list of out row `row`, whose addresses are of class `row_class`. Where a class has
// several lists, its rows take them in turn, whether neighbouring rows are of one class or of all.
STRIDEWISE_HOST_DEVICE inline int ListOf(const PermutePlan& plan, int row, int row_class) {
  const int log2_classes = kLog2SectorBytes - plan.log2_class_bytes;
  const int turn = log2_classes == 0 ? row : row + (row >> log2_classes);
  return (turn << log2_classes & ((1 << plan.log2_lists) - 1)) + row_class;
}

// A vector of all rows of a list, which a thread stores.
struct OutItem {
  int list;
  int vector;
};
STRIDEWISE_HOST_DEVICE inline OutItem OutItemOf(const PermutePlan& plan, int item) {
  const int group = item >> plan.log2_neighbours;
  return {group & ((1 << plan.log2_lists) - 1),
          ((group >> plan.log2_lists) << plan.log2_neighbours) +
              (item & ((1 << plan.log2_neighbours) - 1))};
}

// Returns the word of its vectors, of 1- and 2-byte elements, that a thread loads first: threads
// whose vectors begin in the same bank can be given different ones.
STRIDEWISE_HOST_DEVICE inline int RotationOf(const PermutePlan& plan, int thread) {
  return ((thread & plan.rotation_mask) + (thread >> plan.rotation_shift)) & 3;
}

// Returns the plan with the longest runs within these limits; args.limits is not looked at.
// REQUIRES: `args` is what Canonical() returned, of rank 1 or more.
PermutePlan MakePermutePlan(const PermuteArgs& args, const PermuteTileLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_H_
