// Step 15: producer and consumer warps.
//
// One thread of a producer warpgroup waits for empty stages and asks the TMA to fill them; two
// consumer warpgroups wait for full ones and multiply them. No barrier of the block is left: a
// stage's two barriers in shared memory, full and empty, are all that the roles share, so that a
// late copy delays nobody who still has a stage to multiply. The producer gives registers back
// (setmaxnreg), and a consumer has 232: enough for a tile of 128x256, which reads a quarter less of
// A and B for each operation than one of 128x128.
//
// The kernel is that of matmul/device/tensor_kernel.h, with a block for each tile.

#include "matmul/args.h"
#include "matmul/device/tensor_step_launch.h"

namespace stridewise {

LaunchStatus MatMulWarpRoles(const MatMulArgs& args) {
  return LaunchTensorStep</*kCluster=*/1>(args, {});
}

}  // namespace stridewise
