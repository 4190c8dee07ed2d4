// BF16 and FP16 for products with few tiles: `tensor_split`. matmul/device/tensor/split.h is the
// kernel; here a call is planned.
//
// A product with 1 to 64 rows or columns, as in decoding, lasts as long as the larger operand takes
// to arrive: 128 of its rows or columns are the rows of a tile, the few are its columns, and blocks
// divide k until all multiprocessors load.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/narrow_panel.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/split.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus LaunchTile(const CallOfTiles& call, const TensorPlan& plan,
                        const DeviceModel& device) {
  using Element = typename Tile::Element;
  const MatMulArgs& args = call.args;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(
      const CUtensorMap map_b,
      TensorMapOf(b.matrix, b.matrices, Tile::kBoxRowsB, Tile::kBoxColsB,
                  NarrowPanelSwizzle(Tile::kBoxColsB * static_cast<int>(sizeof(Element)))));
  TensorSplitGemm gemm = {};
  gemm.c = call.c;
  gemm.rows = static_cast<int>(args.m);
  gemm.cols = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.split = plan.split;
  gemm.a_moves = a.matrices.count > 1 ? 1 : 0;
  gemm.b_moves = b.matrices.count > 1 ? 1 : 0;
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  const int64_t tiles =
      CeilDiv(gemm.rows, Tile::kBlockM) * CeilDiv(gemm.cols, Tile::kBlockN) * args.batch;
  const int resident = Tile::kWide ? 1 : SplitResident(tiles, plan.split, device);
  gemm.stages = SplitStages(resident, Tile::kStageBytes);
  return LaunchDependentClusters(plan.split, TensorSplit<Tile>, Grid{tiles * plan.split},
                                 Block{kSplitBlockThreads}, Tile::SharedBytes(gemm.stages),
                                 args.stream, map_a, map_b, gemm);
}

template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchCols(const CallOfTiles& call, const TensorPlan& plan,
                        const DeviceModel& device) {
  if constexpr (kMajorB == OperandLayout::kKMajor) {
    if (plan.cols == 224) {
      return LaunchTile<TensorSplitTile<Element, 224, kMajorA, kMajorB>>(call, plan, device);
    }
  }
  switch (plan.cols) {
    case 8:
      return LaunchTile<TensorSplitTile<Element, 8, kMajorA, kMajorB>>(call, plan, device);
    case 16:
      return LaunchTile<TensorSplitTile<Element, 16, kMajorA, kMajorB>>(call, plan, device);
    case 32:
      return LaunchTile<TensorSplitTile<Element, 32, kMajorA, kMajorB>>(call, plan, device);
    case 64:
      return LaunchTile<TensorSplitTile<Element, 64, kMajorA, kMajorB>>(call, plan, device);
    case 192:
      return LaunchTile<TensorSplitTile<Element, 192, kMajorA, kMajorB>>(call, plan, device);
    case 256:
      return LaunchTile<TensorSplitTile<Element, 256, kMajorA, kMajorB>>(call, plan, device);
    default:
      return LaunchTile<TensorSplitTile<Element, 128, kMajorA, kMajorB>>(call, plan, device);
  }
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const TensorPlan& plan, const DeviceModel& device) {
  const CallOfTiles call(args, plan.transposed);
  return ForLayouts(
      call.args, [&](auto a, auto b) { return LaunchCols<Element, a(), b()>(call, plan, device); });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorSplit(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  const TensorPlan plan = PlanTensorSplit(args, device);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan, device)
                                           : Run<__half>(args, plan, device);
}

}  // namespace stridewise
