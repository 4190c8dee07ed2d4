// BF16 and FP16 by tensor cores: `tensor_turned`, tensor_tile's kernel for C transposed. Its tiles
// have columns that are no multiple of 64, in a layout in which those of tensor_tile cannot:
// matmul/device/tensor_turned.h.
//
// 1536 x 1536 has 132 tiles of 128 x 144, one for each multiprocessor of an H200, and 96 of
// 128 x 192, which take a third longer.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "matmul/cluster_sizes.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Element, OperandLayout kMajorOfB, int kColumns, int kStages, int kCluster>
LaunchStatus LaunchTile(const MatMulArgs& args, const DeviceModel& device) {
  using Tile = TensorTile<Element, Element, kColumns, kStages, kCluster, kMajorOfB,
                          OperandLayout::kKMajor, TensorSums::kTensorCores, /*kIsTurned=*/true>;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  const TensorGemm gemm =
      TensorGemmOf<Tile>(args, b.matrices.count > 1, a.matrices.count > 1, /*c_transposed=*/true);
  // Of clusters of four fewer run at once than the multiprocessors divided by four.
  const int64_t clusters = ClustersAtOnce(kCluster, 1, device.multiprocessors);
  const Grid grid = {std::min(GridOfTiles<Tile>(gemm).x, clusters * kCluster)};
  return LaunchTensorProduct<Tile>(args, gemm, grid, b, a);
}

// Runs a tile of kTensorTurnedCosts.
template <typename Element, OperandLayout kMajorOfB>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  const TensorPlan plan = PlanTensorTurned(args, device);
  switch (plan.cols) {
    case 64:
      return LaunchTile<Element, kMajorOfB, 64, 8, 2>(args, device);
    case 96:
      return LaunchTile<Element, kMajorOfB, 96, 7, 4>(args, device);
    case 160:
      return LaunchTile<Element, kMajorOfB, 160, 5, 1>(args, device);
    default:
      return plan.cluster == 2 ? LaunchTile<Element, kMajorOfB, 144, 5, 2>(args, device)
                               : LaunchTile<Element, kMajorOfB, 144, 5, 1>(args, device);
  }
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_tile");
  return fallback;
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args, const DeviceModel& device) {
  return args.b.transposed ? Run<Element, OperandLayout::kKMajor>(args, device)
                           : Run<Element, OperandLayout::kMnMajor>(args, device);
}

}  // namespace

LaunchStatus MatMulTensorTurned(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device) || !TensorTurnedTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args, device)
                                           : RunFor<__half>(args, device);
}

}  // namespace stridewise
