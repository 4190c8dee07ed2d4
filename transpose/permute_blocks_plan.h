// How a permutation is cut into tiles where its innermost dimensions are the same few on both
// sides, in another order, for library/permute_blocks.cu: 3 x 43 bytes that become 43 x 3, of any
// batch.
//
// Such a block is contiguous in `in` and in `out`, and too short to be cut: a tile has some blocks
// that follow each other in `out`, and all of them have their elements at the same places.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_BLOCKS_PLAN_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_BLOCKS_PLAN_H_

#include <cstdint>

#include "transpose/device/small_divisor.h"
#include "transpose/permute_args.h"
#include "transpose/permute_runs.h"

namespace stridewise {

struct PermuteBlocksPlan {
  FlatDimension block;  // The dimensions of a block, in the order of `out`.
  FlatDimension batch;  // The others.
  int tile_blocks = 1;  // Of a tile.
  int pitch = 16;       // Bytes from block to block in shared memory.
  int in_chunks = 1;    // The most 16-byte chunks that a block lies in.
  int64_t tiles = 1;
  SmallDivisor by_chunks = SmallDivisor(1);
  SmallDivisor by_block = SmallDivisor(1);

  int threads = 128;
  int table_rows = 8;  // Elements of a block and those of a vector, a multiple of 8.
  int tile_bytes = 0;  // Of shared memory; tables of blocks and places follow.
  int shared_bytes = 0;
};

// What tiles are chosen by.
struct PermuteBlocksLimits {
  int most_bytes = 24 << 10;  // Of shared memory for a tile.
  int blocks_of_device = 1056;
  int threads = 256;
};

// Returns whether the permutation, which Canonical() returned, has blocks.
bool HasBlocks(const PermuteArgs& args);

// Returns whether it has such that are so short that nothing else is faster: at most 512 elements,
// or 4 KB with elements of 4 bytes and more.
bool PrefersBlocks(const PermuteArgs& args);

// Returns the limits that are the best for these blocks. REQUIRES: HasBlocks(args).
PermuteBlocksLimits BlocksLimitsFor(const PermuteArgs& args);

// REQUIRES: HasBlocks(args).
PermuteBlocksPlan MakePermuteBlocksPlan(const PermuteArgs& args, const PermuteBlocksLimits& limits);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_BLOCKS_PLAN_H_
