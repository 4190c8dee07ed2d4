// The shape of a tile of C that a block of threads makes in its registers, and how its warps, lanes
// and pipeline divide it: the parameters that block_search tunes.
//
// A warp has 8 x 4 lanes. A lane's elements are vectors of four rows by vectors of four columns,
// each kind 32, or 16, apart: lanes that load together then ask for neighbouring vectors. Lanes are
// in row-major order: the order of warp_tile.cu takes a third of the wavefronts off, but shared
// memory does not bind here, and it ran 2 % slower.

#ifndef STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_

#include <cstdint>

namespace stridewise {

inline constexpr int kWarpSize = 32;
inline constexpr int kVector = 4;  // Floats of 16 bytes, the widest access.
inline constexpr int kLaneRows = 8;
inline constexpr int kLaneCols = 4;
static_assert(kLaneRows * kLaneCols == kWarpSize, "every lane has a place");

// How neighbours in memory lie.
enum class Access {
  kAlongTerms,  // Terms of one line, as in A: copies of 4 bytes, which turn the tile.
  kAcross,      // The same term of several lines, as in B: of 16 bytes where rows are made of them.
};

// In shared memory tiles lie term by term, a row for each. Where copies turn the tile, rows are
// four floats longer than needed: terms of a line that are stored at once then differ in bank.
constexpr int PitchOf(Access access, int lines) {
  return lines + (access == Access::kAlongTerms ? kVector : 0);
}

constexpr int Larger(int a, int b) { return a > b ? a : b; }

// A block makes kRows x kCols elements of C, from kDepth terms of each at a time, of which kStages
// are in shared memory or on their way; a warp makes kWarpRows x kWarpCols of them. With kSlices of
// more than one, as many groups of warps make the whole tile each, of a part of each stage's terms:
// a small tile's warps are then as large as a large one's.
template <int kRowsOfTile, int kColsOfTile, int kDepthOfTile, int kRowsOfWarp, int kColsOfWarp,
          int kStagesOfTile, int kBlocksOfMultiprocessor, int kSlicesOfTile = 1>
struct BlockTile {
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kDepth = kDepthOfTile;
  static constexpr int kWarpRows = kRowsOfWarp;
  static constexpr int kWarpCols = kColsOfWarp;
  static constexpr int kStages = kStagesOfTile;
  static constexpr int kBlocks = kBlocksOfMultiprocessor;
  static constexpr int kSlices = kSlicesOfTile;

  static constexpr int kWarpsAcross = kCols / kWarpCols;
  static constexpr int kSliceThreads = kRows / kWarpRows * kWarpsAcross * kWarpSize;
  static constexpr int kSliceDepth = kDepth / kSlices;
  static constexpr int kThreads = kSliceThreads * kSlices;
  static constexpr int kThreadRows = kWarpRows / kLaneRows;
  static constexpr int kThreadCols = kWarpCols / kLaneCols;

  // Room for both operands' tiles, whatever their access.
  static constexpr int kTileOfB = kDepth * PitchOf(Access::kAlongTerms, kRows);  // Behind A's.
  static constexpr int kStageFloats = kTileOfB + kDepth * PitchOf(Access::kAlongTerms, kCols);

  // Where results pass on their way out: eight rows of a warp's part, see tile_store.h.
  static constexpr int kOutPitch = kWarpCols + 2 * kVector;
  static constexpr int kOutFloats = kSliceThreads / kWarpSize * kLaneRows * kOutPitch;
  // Where slices pass their sums.
  static constexpr int kSliceFloats = kSlices > 1 ? kSlices* kRows* kCols : 0;

  static constexpr int kSharedFloats =
      Larger(kStages * kStageFloats, Larger(kOutFloats, kSliceFloats));
  static constexpr int kSharedBytes = kSharedFloats * static_cast<int>(sizeof(float));

  static_assert(kRows % kWarpRows == 0 && kCols % kWarpCols == 0, "warps fill the tile");
  static_assert(kWarpRows % (kLaneRows * kVector) == 0, "a lane has whole vectors of rows");
  static_assert(kWarpCols % (kLaneCols * kVector) == 0, "a lane has whole vectors of columns");
  static_assert(kWarpCols % kWarpSize == 0, "a warp stores whole rows of its part");
  static_assert(kDepth % 16 == 0, "terms come by 16, two sectors of a row");
  static_assert(kDepth % (2 * kSlices) == 0, "a slice has pairs of terms of every stage");
  static_assert(kRows * kCols % (kVector * kThreads) == 0, "threads add as many sums each");
  static_assert(kStages >= 2, "one to compute from while the next is filled");
  static_assert(kThreads <= 1024, "a block has no more threads");
  static_assert(kSharedBytes * kBlocks <= 227 * 1024, "more shared memory than there is");
};

// A thread's place: where its first vectors lie in the block's tile.
template <typename Tile>
struct ThreadPlace {
  int slice;
  int warp_row, warp_col;  // Of the warp's part in the tile.
  int lane_row, lane_col;  // Of the lane's first vectors, counted in vectors.

  __device__ explicit ThreadPlace(int thread) {
    slice = thread / Tile::kSliceThreads;
    const int warp = thread % Tile::kSliceThreads / kWarpSize;
    const int lane = thread % kWarpSize;
    warp_row = warp / Tile::kWarpsAcross * Tile::kWarpRows;
    warp_col = warp % Tile::kWarpsAcross * Tile::kWarpCols;
    lane_row = lane / kLaneCols;
    lane_col = lane % kLaneCols;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BLOCK_TILE_H_
