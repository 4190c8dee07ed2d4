// BF16 and FP16 by tensor cores: `tensor_divided`, tensor_tile's widest tile where a last round
// would leave clusters idle. The steps of the last tiles are divided evenly among all clusters
// (matmul/device/tensor_pieces.h).

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/divided_plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Element, typename Out, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus Launch(const MatMulArgs& args, const DividedPlan& plan) {
  using Tile = TensorTile<Element, Out, kDividedCols, 4, 2, kMajorA, kMajorB>;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  TensorGemm gemm = TensorGemmOf<Tile>(args, a.matrices.count > 1, b.matrices.count > 1);
  auto* const workspace = static_cast<char*>(args.workspace);
  gemm.division.first_tile = static_cast<int>(plan.FirstTile());
  gemm.division.marks = reinterpret_cast<unsigned long long*>(workspace);
  gemm.division.sums = reinterpret_cast<float4*>(workspace + DividedPlan::kMarkBytes);
  return LaunchTensorProduct<Tile, /*kDivides=*/true>(args, gemm, Grid{plan.clusters * 2}, a, b);
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args, const DividedPlan& plan) {
  return ForLayouts(args,
                    [&](auto a, auto b) { return Launch<Element, Out, a(), b()>(args, plan); });
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args, const DividedPlan& plan) {
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args, plan)
                                            : Run<Element, Element>(args, plan);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_tile");
  return fallback;
}

}  // namespace

int64_t MatMulTensorDividedWorkspaceBytes(const MatMulArgs& args) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  return 0;  // It runs blocks one after the other in any order, and may wait for one for ever.
#endif
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return 0;
  const DividedPlan plan = PlanTensorDivided(args, device);
  return plan.IsDivided() ? plan.WorkspaceBytes() : 0;
}

LaunchStatus MatMulTensorDivided(const MatMulArgs& args) {
  const int64_t bytes = MatMulTensorDividedWorkspaceBytes(args);
  if (bytes == 0 || args.workspace_bytes < bytes) return Fallback().run(args);
  const DividedPlan plan = PlanTensorDivided(args, DeviceOf(args));
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args, plan)
                                           : RunFor<__half>(args, plan);
}

}  // namespace stridewise
