// BF16 and FP16 for small products with operands of any alignment: `tensor_small`.
// matmul/device/tensor/small.h is the kernel; here a call is planned.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/small.h"
#include "matmul/device/tensor/small_plan.h"

namespace stridewise {
namespace {

template <typename Element, typename Out>
LaunchStatus RunPlan(const MatMulArgs& args, const SmallPlan& plan) {
  SmallGemm gemm = {};
  gemm.a = GeneralOperandA(args);
  gemm.b = GeneralOperandB(args);
  gemm.c = OutputOf(args);
  gemm.k = gemm.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.steps = CeilDiv(gemm.k, kSmallK);
  gemm.log_split = plan.log_split;
  gemm.split = 1 << plan.log_split;
  gemm.steps_of_part = CeilDiv(gemm.steps, gemm.split);
  return LaunchClusters(gemm.split, TensorSmall<Element, Out>,
                        Grid{CeilDiv(args.m, int64_t{kSmallTile}) * gemm.split,
                             CeilDiv(args.n, int64_t{kSmallTile}), args.batch},
                        Block{kSmallThreads}, 0, args.stream, gemm);
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args) {
  const SmallPlan plan = PlanTensorSmall(args, DeviceOf(args));
  return args.c.type == ElementType::kFloat ? RunPlan<Element, float>(args, plan)
                                            : RunPlan<Element, Element>(args, plan);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorSmall(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorSmallTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args) : Run<__half>(args);
}

}  // namespace stridewise
