// The tile of C that a block of threads computes in its registers, and how its warps, lanes and
// pipeline divide it.
//
// The lanes of a warp are arranged 8 x 4. A lane's accumulators are vectors of four rows by vectors
// of four columns, 32 rows and 16 columns apart: lanes that load together then load neighbouring
// vectors. Lanes are in row-major order. The order of 09_warp_tile.cu needs a third fewer
// wavefronts, but shared memory is not the bottleneck here, and that order ran 2 % slower.

#ifndef STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_

#include <cstdint>

#include "matmul/device/operand.h"
#include "matmul/device/tile_policies.h"
#include "matmul/device/tile_shared_memory.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

inline constexpr int kLanesM = 8;
inline constexpr int kLanesN = 4;
static_assert(kLanesM * kLanesN == kWarpSize, "every lane has a coordinate");
static_assert(kStagedRows == kLanesM, "each lane stages one of its rows");
static_assert(kKMajorPad == kVector, "rows begin at vectors");

// Returns the elements between neighbours along k in a tile in shared memory, which holds `mn`
// elements for each k. Copies of a K-major operand transpose the tile; its rows are four floats
// longer than needed, so that elements that are stored at once, neighbours along k, differ in bank.
constexpr int PitchOf(OperandLayout layout, int mn) {
  return mn + (layout == OperandLayout::kKMajor ? kKMajorPad : 0);
}

// A policy's tile of kBlockM x kBlockN elements of C. Each k step covers kBlockK of the k extent;
// kStages of them are in shared memory or in flight. A warp computes kWarpM x kWarpN elements. With
// kWarpsAlongK above 1 (sliced k) that number of groups of warps, called slices, compute the whole
// tile each, from different parts of every step: a small tile's warps are then as large as a large
// one's. kBlocksPerMultiprocessor is the number of blocks that registers and shared memory of
// compute capability 9.0 have room for, no more and no less: grids of persistent blocks are made of
// it. nvcc is told of kMinBlocks, and keeps to the registers that these leave.
template <typename Policy>
struct BlockTile : Policy, TileSharedMemory<Policy> {
  using typename Policy::Types;
  using Accumulator = typename Types::Accumulator;
  using Policy::kBlockK;
  using Policy::kBlockM;
  using Policy::kBlockN;
  using Policy::kBlocksPerMultiprocessor;
  using Policy::kMinBlocks;
  using Policy::kStages;
  using Policy::kWarpM;
  using Policy::kWarpN;
  using Policy::kWarpsAlongK;

  static constexpr int kWarpsAlongN = kBlockN / kWarpN;
  static constexpr int kSliceThreads = kBlockM / kWarpM * kWarpsAlongN * kWarpSize;
  static constexpr int kSliceK = kBlockK / kWarpsAlongK;
  static constexpr int kThreads = kSliceThreads * kWarpsAlongK;
  static constexpr int kThreadM = kWarpM / kLanesM;
  static constexpr int kThreadN = kWarpN / kLanesN;
  static constexpr int64_t kTileBytes =
      int64_t{kBlockM} * kBlockN * static_cast<int64_t>(sizeof(Accumulator));

  using TileSharedMemory<Policy>::kSharedBytes;

  static_assert(kBlockM % kWarpM == 0 && kBlockN % kWarpN == 0, "warps fill the tile");
  static_assert(kWarpM % (kLanesM * kVector) == 0, "a lane has whole vectors of rows");
  static_assert(kWarpN % (kLanesN * kVector) == 0, "a lane has whole vectors of columns");
  static_assert(kWarpN % kWarpSize == 0, "a warp stores whole rows of its part");
  static_assert(kBlockK % 16 == 0, "copies along k are of 16 elements, two sectors");
  static_assert(kBlockK % (2 * kWarpsAlongK) == 0, "the main loop takes pairs of k");
  static_assert(kBlockM * kBlockN % (kVector * kThreads) == 0, "threads reduce equal parts");
  static_assert(kStages >= 2, "one to compute from while the next is filled");
  static_assert(kThreads <= 1024, "a block has no more threads");
  // Of 228 KB each block takes 1 KB for the system.
  static_assert((kSharedBytes + 1024) * kBlocksPerMultiprocessor <= 228 * 1024,
                "more shared memory than there is");
  static_assert(kMinBlocks <= kBlocksPerMultiprocessor, "nvcc makes room for the others by itself");
};

// Where a thread's first vectors lie in the block's tile.
template <typename Tile>
struct ThreadCoord {
  int slice;
  int warp_row, warp_col;  // The first element of the warp's part.
  int lane_row, lane_col;  // The lane's first vectors in that part, counted in vectors.

  __device__ explicit ThreadCoord(int thread) {
    slice = thread / Tile::kSliceThreads;
    const int warp = thread % Tile::kSliceThreads / kWarpSize;
    const int lane = thread % kWarpSize;
    warp_row = warp / Tile::kWarpsAlongN * Tile::kWarpM;
    warp_col = warp % Tile::kWarpsAlongN * Tile::kWarpN;
    lane_row = lane / kLanesN;
    lane_col = lane % kLanesN;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_
