// Step 18: the order of tiles.
//
// Clusters go down eight rows of tiles before they go right. Those that run at the same time then
// read 16 row panels of A and 8 column panels of B, not 1 and 66, and find more of them in the L2.
//
// The kernel is that of step 17, which counts tiles in bands. The library's tensor_tile is this
// step with all layouts, types and sizes of tiles.

#include "matmul/args.h"
#include "matmul/device/tensor_step_launch.h"

namespace stridewise {

LaunchStatus MatMulTileBands(const MatMulArgs& args) {
  constexpr TensorStep kStep = {/*persistent=*/true, /*store_by_tma=*/true, /*band=*/8};
  return LaunchTensorStep</*kCluster=*/2>(args, kStep);
}

}  // namespace stridewise
