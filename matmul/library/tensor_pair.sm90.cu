// BF16 and FP16 for products with up to 32 rows or columns: `tensor_pair`.
// matmul/device/tensor/pair.h is the kernel, pair_plan.h divides a call; here it is launched.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/pair.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const PairPlan& plan) {
  using Element = typename Tile::Element;
  const TensorOperand<Element> of_args[] = {
      {args.A<Element>(), MatrixCount(args.batch, args.a.stride)},
      {args.B<Element>(), MatrixCount(args.batch, args.b.stride)}};
  const TensorOperand<Element>& a = of_args[plan.transposed ? 1 : 0];
  const TensorOperand<Element>& b = of_args[plan.transposed ? 0 : 1];
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  TensorPairGemm gemm = {};
  gemm.c = OutputOf(args);
  gemm.c.transposed = plan.transposed;
  gemm.rows = static_cast<int>(plan.transposed ? args.n : args.m);
  gemm.cols = static_cast<int>(plan.transposed ? args.m : args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.stages = PairStages(Tile::kBlockN);
  gemm.a_moves = a.matrices.count > 1 ? 1 : 0;
  gemm.b_moves = b.matrices.count > 1 ? 1 : 0;
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  return LaunchDependentClusters(Tile::kCluster, TensorPair<Tile>,
                                 Grid{plan.clusters * Tile::kCluster}, Block{kPairThreads},
                                 Tile::SharedBytes(gemm.stages), args.stream, map_a, map_b, gemm);
}

template <typename Element, OperandLayout kMajorA>
LaunchStatus LaunchCols(const MatMulArgs& args, const PairPlan& plan) {
  if (plan.cols == 16) return LaunchTile<TensorPairTile<Element, 16, 2, kMajorA>>(args, plan);
  return plan.cluster == 1 ? LaunchTile<TensorPairTile<Element, 8, 1, kMajorA>>(args, plan)
                           : LaunchTile<TensorPairTile<Element, 8, 2, kMajorA>>(args, plan);
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const PairPlan& plan) {
  const bool a_along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  return a_along_k ? LaunchCols<Element, OperandLayout::kKMajor>(args, plan)
                   : LaunchCols<Element, OperandLayout::kMnMajor>(args, plan);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_split");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorPair(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  const PairPlan plan = PlanTensorPair(args, device);
  if (plan.cols == 0) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan)
                                           : Run<__half>(args, plan);
}

}  // namespace stridewise
