// BF16 and FP16 for few rows or columns, with operands of any alignment: `tensor_direct`.
// matmul/device/tensor/direct.h is the kernel; here a call is planned.
//
// Where a row begins at an odd element the TMA needs a copy of the operand, which costs a launch
// and three times the operand's bytes: a row of 1469 by 1469 x 10190 takes 41 us with it, and 21
// with this kernel, which reads the matrix once.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/direct.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/output.h"

namespace stridewise {
namespace {

// A single row or column whose elements are neighbours lies along k.
GeneralOperand FewOf(GeneralOperand operand) {
  if (operand.mn == 1 && operand.ld == 1) operand.k_major = true;
  return operand;
}

template <typename Tile>
LaunchStatus RunTile(const MatMulArgs& args, const DirectPlan& plan) {
  DirectGemm gemm = {};
  gemm.many = plan.transposed ? GeneralOperandB(args) : GeneralOperandA(args);
  gemm.few = FewOf(plan.transposed ? GeneralOperandA(args) : GeneralOperandB(args));
  gemm.c = OutputOf(args);
  gemm.c.transposed = plan.transposed;
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.steps = CeilDiv(gemm.k, kDirectK);
  gemm.log_split = plan.log_split;
  gemm.split = 1 << plan.log_split;
  gemm.log_warps_of_k = plan.log_warps_of_k;
  gemm.warps_of_k = 1 << plan.log_warps_of_k;
  gemm.steps_of_part = CeilDiv(gemm.steps, gemm.split * gemm.warps_of_k);
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  return LaunchClusters(
      gemm.split, TensorDirect<Tile>,
      Grid{DirectBlocksOfRows(args, plan) * gemm.split, DirectTilesOfFew(args, plan), args.batch},
      Block{kDirectThreads}, Tile::kSharedBytes, args.stream, gemm);
}

template <typename Element, bool kManyAlongK>
LaunchStatus RunFew(const MatMulArgs& args, const DirectPlan& plan) {
  switch (plan.few) {
    case 8:
      return RunTile<DirectTile<Element, kManyAlongK, 8>>(args, plan);
    case 16:
      return RunTile<DirectTile<Element, kManyAlongK, 16>>(args, plan);
    default:
      return RunTile<DirectTile<Element, kManyAlongK, 32>>(args, plan);
  }
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args) {
  const DirectPlan plan = PlanTensorDirect(args, DeviceOf(args));
  const bool along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  return along_k ? RunFew<Element, true>(args, plan) : RunFew<Element, false>(args, plan);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorDirect(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorDirectTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args) : Run<__half>(args);
}

}  // namespace stridewise
