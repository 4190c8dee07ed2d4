// Step 17: persistent blocks.
//
// One block for each multiprocessor computes tile after tile. A block for each tile would end with
// a store that nothing overlaps; here the producer already loads the next tile while the consumers
// store theirs through shared memory, by the TMA.
//
// The kernel is that of step 16, with a grid of as many blocks as the GPU holds at once.

#include "matmul/args.h"
#include "matmul/device/tensor_step_launch.h"

namespace stridewise {

LaunchStatus MatMulPersistent(const MatMulArgs& args) {
  constexpr TensorStep kStep = {/*persistent=*/true, /*store_by_tma=*/true, /*band=*/1};
  return LaunchTensorStep</*kCluster=*/2>(args, kStep);
}

}  // namespace stridewise
