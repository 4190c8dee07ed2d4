// Launches the kernel of tensor_kernel.h as the steps of the ladder do: for BF16 that is row-major
// and not transposed, with one tile, and with what tensor_tile chooses given by the step.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_

#include <cuda_bf16.h>

#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {

struct TensorStep {
  bool persistent = false;    // One block for each multiprocessor, and not one for each tile.
  bool store_by_tma = false;  // Through shared memory, while the next tile is multiplied.
  int band = 1;               // Rows of tiles that are computed before the next column.
};

// Queues the product. What the TMA cannot address takes `tensor_general`.
template <int kCluster>
LaunchStatus LaunchTensorStep(const MatMulArgs& args, const TensorStep& step) {
  using Element = __nv_bfloat16;
  using Tile = TensorTile<Element, Element, 256, 4, kCluster, OperandLayout::kKMajor,
                          OperandLayout::kMnMajor>;
  const MatrixCount one(1, 0);
  const auto a = args.A<Element>();
  const auto b = args.B<Element>();
  if (args.k == 0 || !HasTensorMap(a, one) || !HasTensorMap(b, one)) {
    return FunctionsOf("tensor_general").run(args);
  }
  TensorGemm gemm = TensorGemmOf<Tile>(args, /*a_moves=*/false, /*b_moves=*/false);
  gemm.store_by_tma = gemm.store_by_tma && step.store_by_tma;
  gemm.band = step.band;
  const Grid grid =
      step.persistent ? PersistentGrid<Tile>(gemm, DeviceOf(args)) : GridOfTiles<Tile>(gemm);
  return LaunchTensorProduct<Tile>(args, gemm, grid, {a, one}, {b, one});
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_STEP_LAUNCH_H_
