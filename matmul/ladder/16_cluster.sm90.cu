// Step 16: blocks that share loads.
//
// Two blocks that lie below each other in C need the same tile of B. As a cluster each loads half
// of it, and the TMA delivers it to both (multicast): a third less is read from the L2. A stage is
// empty only when the consumers of both blocks have read it, so that the two wait for each other.
//
// The kernel is that of step 15, in clusters of two.

#include "matmul/args.h"
#include "matmul/device/tensor_step_launch.h"

namespace stridewise {

LaunchStatus MatMulCluster(const MatMulArgs& args) {
  return LaunchTensorStep</*kCluster=*/2>(args, {});
}

}  // namespace stridewise
