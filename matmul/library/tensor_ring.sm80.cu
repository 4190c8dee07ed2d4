// BF16 and FP16 for few rows or columns, with operands of any alignment: `tensor_ring`.
// matmul/device/tensor/ring.h is the kernel; here a call is planned.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/ring.h"
#include "matmul/device/tensor/ring_plan.h"

namespace stridewise {
namespace {

// Returns the few as they are stored: a single row or column whose elements are neighbours lies
// along k.
GeneralOperand FewOf(const MatMulArgs& args, const RingPlan& plan) {
  GeneralOperand few = plan.transposed ? GeneralOperandA(args) : GeneralOperandB(args);
  if (few.mn == 1 && few.ld == 1) few.k_major = true;
  return few;
}

template <typename Tile>
LaunchStatus RunTile(const MatMulArgs& args, const RingPlan& plan) {
  RingGemm gemm = {};
  gemm.many = plan.transposed ? GeneralOperandB(args) : GeneralOperandA(args);
  gemm.few = FewOf(args, plan);
  gemm.c = OutputOf(args);
  gemm.c.transposed = plan.transposed;
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.steps = static_cast<int>(CeilDiv(gemm.k, kRingK));
  gemm.split = 1 << plan.log_split;
  gemm.steps_of_part = static_cast<int>(CeilDiv(gemm.steps, gemm.split));
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  // A short k leaves multiprocessors room for more blocks.
  const int stages = std::max(1, std::min(kRingStages, gemm.steps_of_part));
  const auto bytes = static_cast<size_t>(std::max(stages * Tile::kStageBytes, Tile::kSumsBytes));
  return LaunchClusters(
      gemm.split, TensorRing<Tile>,
      Grid{RingTilesOfMany(args, plan) * gemm.split, RingTilesOfFew(args, plan), args.batch},
      Block{kRingThreads}, bytes, args.stream, gemm);
}

template <typename Element, int kFew>
LaunchStatus RunFew(const MatMulArgs& args, const RingPlan& plan) {
  const bool many_along_k = plan.transposed ? args.b.transposed : !args.a.transposed;
  if (many_along_k) {
    return FewOf(args, plan).k_major ? RunTile<RingTile<Element, kFew, true, true>>(args, plan)
                                     : RunTile<RingTile<Element, kFew, true, false>>(args, plan);
  }
  return FewOf(args, plan).k_major ? RunTile<RingTile<Element, kFew, false, true>>(args, plan)
                                   : RunTile<RingTile<Element, kFew, false, false>>(args, plan);
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args) {
  const RingPlan plan = PlanTensorRing(args, DeviceOf(args));
  switch (plan.few) {
    case 8:
      return RunFew<Element, 8>(args, plan);
    case 16:
      return RunFew<Element, 16>(args, plan);
    default:
      return RunFew<Element, kRingMostFew>(args, plan);
  }
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorRing(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorRingTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args) : Run<__half>(args);
}

}  // namespace stridewise
