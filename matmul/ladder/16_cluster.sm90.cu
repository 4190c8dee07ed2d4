// Steps 16 to 18: blocks that share loads, persistent blocks, and the order of tiles.
//
// Step 16: two blocks that lie below each other in C need the same tile of B. As a cluster each
// loads half of it, and the TMA delivers it to both (multicast): a third less is read from the L2.
//
// Step 17: one block for each multiprocessor computes tile after tile. A block for each tile would
// end with a store that nothing overlaps; here the producer already loads the next tile while the
// consumers store theirs through shared memory, by the TMA.
//
// Step 18: clusters go down eight rows of tiles before they go right. Those that run at the same
// time then read 16 row panels of A and 8 column panels of B, not 1 and 66, and find more of them
// in the L2. The library's tensor_tile is this step with all layouts, types and sizes of tiles.

#include "matmul/args.h"
#include "matmul/device/tensor_step_launch.h"

namespace stridewise {
namespace {

constexpr int kCluster = 2;

}  // namespace

LaunchStatus MatMulCluster(const MatMulArgs& args) { return LaunchTensorStep<kCluster>(args, {}); }

LaunchStatus MatMulPersistent(const MatMulArgs& args) {
  return LaunchTensorStep<kCluster>(args, {/*persistent=*/true, /*store_by_tma=*/true, 1});
}

LaunchStatus MatMulTileBands(const MatMulArgs& args) {
  return LaunchTensorStep<kCluster>(args, {/*persistent=*/true, /*store_by_tma=*/true, 8});
}

}  // namespace stridewise
