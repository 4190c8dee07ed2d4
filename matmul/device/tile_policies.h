// The tuned tiles of `stream_k` and its relatives: one policy a kernel. block_tile.h says what the
// constants mean and derives the rest from them, and lines of kernels.inc name a kernel's policy.
//
// kSplitCost is what splitting tiles along k costs with a workspace (split_cost.h), as measured on
// an H100, and kClusterCost what it costs among clusters of blocks (split_plan.h), in k steps of
// one block, as measured on an H200.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_POLICIES_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_POLICIES_H_

#include "matmul/device/gemm_types.h"
#include "matmul/split_cost.h"

namespace stridewise {

// From how many k steps on copies of K-major operands are started a few at a time (tile_mma.h):
// where both are K-major, where A alone is, and B alone; 0 is never. Measured on an H200 at 18
// shapes. Beside a larger operand that arrives at once it does not pay.
struct RollingSteps {
  int both = 0;
  int a = 0;
  int b = 0;
};

// For large products: `double_buffered` and `stream_k`.
struct TilePolicy128x256 {
  using Types = Float32;
  static constexpr int kBlockM = 128, kBlockN = 256, kBlockK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 1;
  static constexpr RollingSteps kRolling = {8, 0, 16};
  static constexpr int kMinBlocks = 1, kBlocksPerMultiprocessor = 1;
  static constexpr SplitCost kSplitCost = {0.5, 3.5};
  static constexpr double kClusterCost = 5;
};

// The same tile for a kernel whose threads do not copy, with one more stage in flight.
struct TilePolicyWarpSpecialized : TilePolicy128x256 {
  static constexpr int kStages = 4;
};

// Half the tile and two blocks on a multiprocessor: 3 % slower where both tiles fit C, and faster
// where 256 columns do not.
struct TilePolicy128x128 {
  using Types = Float32;
  static constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 1;
  static constexpr RollingSteps kRolling = {16, 16, 16};
  static constexpr int kMinBlocks = 2, kBlocksPerMultiprocessor = 2;
  static constexpr SplitCost kSplitCost = {0.5, 2};
  static constexpr double kClusterCost = 4.5;
};

// For products of about 1024. Each of four warps computes the whole tile from a quarter of the k
// extent, so that a thread still has 8x16 accumulators and 128 fma for 6 loads.
struct TilePolicy64x64 {
  using Types = Float32;
  static constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 32;
  static constexpr int kWarpM = 64, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 4;
  static constexpr RollingSteps kRolling = {16, 24, 0};
  static constexpr int kMinBlocks = 2, kBlocksPerMultiprocessor = 2;
  static constexpr SplitCost kSplitCost = {1.5, 2.5};
  static constexpr double kClusterCost = 6;
};

// Twice the warps, and a whole multiprocessor for a block: for products with about one tile for
// each multiprocessor, n = 640 to 704 on an H200. There TilePolicy64x64 has to split its tiles to
// fill the second block of a multiprocessor, and n = 704 takes 27.2 us; whole tiles with a
// multiprocessor each take 24.2. The price is eight partial sums an element, added in shared
// memory.
//
// The cost of splitting was measured three times on an H200: units of 3.9 steps instead of 8 pay
// (n = 512: 15.8 us instead of 18.9), of 6.8 instead of 14 too (896), of 10.6 instead of 15 cost 3
// % (960).
struct TilePolicyRound64x64 {
  using Types = Float32;
  static constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 64;
  static constexpr int kWarpM = 64, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 8;
  static constexpr RollingSteps kRolling = {10, 14, 14};
  static constexpr int kMinBlocks = 1, kBlocksPerMultiprocessor = 1;
  static constexpr SplitCost kSplitCost = {0.5, 3.5};
  static constexpr double kClusterCost = 4;
};

// For batches of small products. There are enough blocks, and the k extent is so short that a
// block's prologue and epilogue, which other blocks overlap, are most of its time: eight blocks of
// two warps on a multiprocessor. 1000 products of 64^3 take 22.0 us, and 25.7 with twice the k
// extent of a stage and four blocks of four warps. Warps along k, as in TilePolicy64x64, would have
// next to nothing to divide, and partial sums to add.
struct TilePolicyBatch64x64 {
  using Types = Float32;
  static constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 16;
  static constexpr int kWarpM = 64, kWarpN = 32;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 1;
  static constexpr RollingSteps kRolling = {};
  static constexpr int kMinBlocks = 8, kBlocksPerMultiprocessor = 8;
  static constexpr SplitCost kSplitCost = {1.5, 7};
  static constexpr double kClusterCost = 6;
};

// For products with a short k and few tiles for each multiprocessor. A warp of TilePolicyBatch64x64
// has 1024 fma for each step, and where it shares its scheduler with no other it takes 0.6 of the
// time that four take together (split_cost.h). Here a thread has 4x8 accumulators, so that a step
// is over in half the time: 5809 x 188 x 115 tt takes 18.2 us on an H100 instead of 21.1. The price
// is 3 loads from shared memory for 32 fma instead of 4 for 64.
struct TilePolicyLight64x64 {
  using Types = Float32;
  static constexpr int kBlockM = 64, kBlockN = 64, kBlockK = 16;
  static constexpr int kWarpM = 32, kWarpN = 32;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 1;
  static constexpr RollingSteps kRolling = {};
  static constexpr int kMinBlocks = 5, kBlocksPerMultiprocessor = 5;
  static constexpr SplitCost kSplitCost = {1.5, 5};
  static constexpr double kClusterCost = 6;
};

// The same with half the tile, where 64 rows or columns are too many.
struct TilePolicyLight32x64 : TilePolicyLight64x64 {
  static constexpr int kBlockM = 32;
  static constexpr int kStages = 4;
  static constexpr int kMinBlocks = 8, kBlocksPerMultiprocessor = 8;
};
struct TilePolicyLight64x32 : TilePolicyLight32x64 {
  static constexpr int kBlockM = 64, kBlockN = 32;
};

// Between TilePolicyBatch64x64 and TilePolicy128x128: the former's short steps and rows, and a
// thread's 8x16 accumulators as in the latter. Four blocks on a multiprocessor.
struct TilePolicy64x128 {
  using Types = Float32;
  static constexpr int kBlockM = 64, kBlockN = 128, kBlockK = 16;
  static constexpr int kWarpM = 64, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 1;
  static constexpr RollingSteps kRolling = {};
  static constexpr int kMinBlocks = 4, kBlocksPerMultiprocessor = 4;
  static constexpr SplitCost kSplitCost = {0.5, 3.5};
  static constexpr double kClusterCost = 6;
};

// For products of about 512: 128 tiles, one for each multiprocessor, and eight warps that compute
// the whole tile from an eighth of the k extent each.
struct TilePolicy32x64 {
  using Types = Float32;
  static constexpr int kBlockM = 32, kBlockN = 64, kBlockK = 64;
  static constexpr int kWarpM = 32, kWarpN = 64;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 8;
  static constexpr RollingSteps kRolling = {14, 0, 0};
  static constexpr int kMinBlocks = 1, kBlocksPerMultiprocessor = 1;
  static constexpr SplitCost kSplitCost = {5, 0};
  static constexpr double kClusterCost = 3.5;
};

// For products up to about 256, which last as long as a launch and two trips to memory. There are
// few tiles, so a step covers 128 of the k extent and nearly all loads are in flight at once; eight
// warps divide it.
struct TilePolicy32x32 {
  using Types = Float32;
  static constexpr int kBlockM = 32, kBlockN = 32, kBlockK = 128;
  static constexpr int kWarpM = 32, kWarpN = 32;
  static constexpr int kStages = 3;
  static constexpr int kWarpsAlongK = 8;
  static constexpr RollingSteps kRolling = {};
  static constexpr int kMinBlocks = 1, kBlocksPerMultiprocessor = 2;
  static constexpr SplitCost kSplitCost = {1.5, 2};
  static constexpr double kClusterCost = 3;
};

// For 17 to 32 columns, or rows, of operands that the TMA loads (tma_tile.h): two blocks of four
// warps on a multiprocessor. A thread has 128 accumulators, so that each warp computes the whole
// tile, from a quarter of the k. A step is a row of 128 bytes of a K-major operand.
struct TilePolicyTma128x32 {
  using Types = Float32;
  static constexpr int kBlockM = 128, kBlockN = 32, kBlockK = 32;
  static constexpr int kWarpM = 128, kWarpN = 32;
  static constexpr int kStages = 5;
  static constexpr int kWarpsAlongK = 4;
  static constexpr RollingSteps kRolling = {12, 16, 0};
  static constexpr int kMinBlocks = 2, kBlocksPerMultiprocessor = 2;
  static constexpr SplitCost kSplitCost = {0.5, 3.5};
  static constexpr double kClusterCost = 6;
};
struct TilePolicyTma32x128 : TilePolicyTma128x32 {
  static constexpr int kBlockM = 32, kBlockN = 128;
  static constexpr int kWarpM = 32, kWarpN = 128;
  static constexpr RollingSteps kRolling = {12, 0, 16};
};

// The same tiles of operands that threads copy, since their rows do not begin at multiples of 16
// bytes.
struct TilePolicy128x32 : TilePolicyTma128x32 {
  static constexpr int kStages = 4;
};
struct TilePolicy32x128 : TilePolicyTma32x128 {
  static constexpr int kStages = 4;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_POLICIES_H_
