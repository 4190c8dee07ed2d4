// BF16 and FP16 by tensor cores for products of at most one tile for each multiprocessor:
// `tensor_single`. matmul/device/tensor/single.h is the kernel, clustered.h that of tiles in
// clusters, single_plan.h chooses the tile.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/clustered.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/single.h"
#include "matmul/device/tensor/single_plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

// Queues the product of operands that are stored as `a` and `b`, the tile's rows and columns.
template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const MatMulInput& a_input,
                        const MatMulInput& b_input,
                        const ConstMatrix<typename Tile::Element>& a_matrix,
                        const ConstMatrix<typename Tile::Element>& b_matrix) {
  using Operand = TensorOperand<typename Tile::Element>;
  const Operand a = {a_matrix, MatrixCount(args.batch, a_input.stride)};
  const Operand b = {b_matrix, MatrixCount(args.batch, b_input.stride)};
  const TensorGemm gemm =
      TensorGemmOf<Tile>(args, a.matrices.count > 1, b.matrices.count > 1, Tile::kTurned);
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  const auto launch = [&](auto kernel, const Grid& grid) {
    return LaunchDependentClusters(Tile::kBlocks, kernel, grid, Block{kSingleThreads<Tile>},
                                   Tile::kSharedBytes, args.stream, map_a, map_b, gemm);
  };
  const int64_t rows = CeilDiv(gemm.m, Tile::kBlockM * Tile::kRowBlocks);
  const int64_t cols = CeilDiv(gemm.n, Tile::kBlockN * Tile::kColBlocks);
  if constexpr (Tile::kBlocks == 1) {
    return launch(TensorSingle<typename Tile::One>, {cols, rows, args.batch});
  } else {
    return launch(TensorClustered<Tile>, {rows * cols * Tile::kBlocks, 1, args.batch});
  }
}

// Tiles alone, or in clusters of kRowBlocks x kColBlocks.
template <typename Element, int kGroups, int kColumns, int kStages, OperandLayout kMajorA,
          OperandLayout kMajorB, int kRowBlocks = 1, int kColBlocks = 1>
LaunchStatus Launch(const MatMulArgs& args) {
  using Tile = TensorTile<Element, Element, kColumns, kStages, 1, kMajorA, kMajorB,
                          TensorSums::kTensorCores, /*kIsTurned=*/false, kGroups>;
  return LaunchTile<ClusteredTile<Tile, kRowBlocks, kColBlocks>>(
      args, args.a, args.b, args.A<Element>(), args.B<Element>());
}

template <typename Element, int kGroups, int kColumns, int kStages, OperandLayout kMajorOfB,
          int kRowBlocks = 1, int kColBlocks = 1>
LaunchStatus LaunchTurned(const MatMulArgs& args) {
  using Tile = TensorTile<Element, Element, kColumns, kStages, 1, kMajorOfB, OperandLayout::kKMajor,
                          TensorSums::kTensorCores, /*kIsTurned=*/true, kGroups>;
  return LaunchTile<ClusteredTile<Tile, kRowBlocks, kColBlocks>>(
      args, args.b, args.a, args.B<Element>(), args.A<Element>());
}

// Runs a tile of kClusteredTileCosts.
template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus RunClustered(const MatMulArgs& args, const TensorPlan& plan) {
  if constexpr (kMajorA == OperandLayout::kKMajor) {
    // op(B) with the layout that it has as the tile's rows.
    if (plan.transposed && plan.rows == 128)
      return LaunchTurned<Element, 2, 96, 7, kMajorB, 2, 2>(args);
    if (plan.transposed && plan.cols == 96)
      return LaunchTurned<Element, 1, 96, 9, kMajorB, 4, 2>(args);
    if (plan.transposed) return LaunchTurned<Element, 1, 128, 8, kMajorB, 2, 4>(args);
  }
  return Launch<Element, 2, 128, 6, kMajorA, kMajorB, 2, 4>(args);
}

// Runs a tile of kSingleTileCosts.
template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus Run(const MatMulArgs& args, const TensorPlan& plan) {
  if (plan.cluster > 1) return RunClustered<Element, kMajorA, kMajorB>(args, plan);
  if constexpr (kMajorA == OperandLayout::kKMajor) {
    if (plan.transposed && plan.cols == 32) return LaunchTurned<Element, 1, 32, 12, kMajorB>(args);
    if (plan.transposed && plan.cols == 144) return LaunchTurned<Element, 2, 144, 5, kMajorB>(args);
    if constexpr (kMajorB == OperandLayout::kMnMajor) {
      if (plan.transposed) return LaunchTurned<Element, 1, 128, 8, kMajorB>(args);
    }
  }
  if (plan.rows == kMmaRows) {
    return plan.cols == 64 ? Launch<Element, 1, 64, 12, kMajorA, kMajorB>(args)
                           : Launch<Element, 1, 128, 8, kMajorA, kMajorB>(args);
  }
  switch (plan.cols) {
    case 128:
      return Launch<Element, 2, 128, 6, kMajorA, kMajorB>(args);
    case 192:
      return Launch<Element, 2, 192, 4, kMajorA, kMajorB>(args);
    default:
      return Launch<Element, 2, 256, 4, kMajorA, kMajorB>(args);
  }
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args, const TensorPlan& plan) {
  return ForLayouts(args, [&](auto a, auto b) { return Run<Element, a(), b()>(args, plan); });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_tile");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorSingle(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device) || !TensorSingleTakes(args)) return Fallback().run(args);
  const TensorPlan plan = PlanTensorSingle(args, device);
  if (plan.cols == 0) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args, plan)
                                           : RunFor<__half>(args, plan);
}

}  // namespace stridewise
