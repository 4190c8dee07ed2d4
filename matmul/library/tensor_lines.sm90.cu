// BF16 and FP16 for products with up to 16 rows or columns beside an operand that lies along k:
// `tensor_lines`. matmul/device/tensor/lines.h is the kernel, lines_plan.h divides a call; here it
// is launched.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/lines.h"
#include "matmul/device/tensor/lines_plan.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const LinesPlan& plan) {
  const MatMulInput& many = plan.transposed ? args.b : args.a;
  TensorLinesGemm gemm = {};
  gemm.few = plan.transposed ? GeneralOperandA(args) : GeneralOperandB(args);
  gemm.many = static_cast<const uint16_t*>(many.data);
  gemm.many_ld = many.ld;
  gemm.many_lines = static_cast<int>(plan.transposed ? args.n : args.m);
  gemm.k = static_cast<int>(args.k);
  gemm.chunks = plan.chunks;
  gemm.stages = plan.stages;
  gemm.pitch_bytes = plan.PitchBytes();
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  gemm.c = OutputOf(args);
  gemm.c.transposed = plan.transposed;
  return LaunchDependent(TensorLines<Element>, Grid{plan.blocks}, Block{kLinesThreads},
                         static_cast<size_t>(plan.SharedBytes()), args.stream, gemm);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_split");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorLines(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  const LinesPlan plan = PlanTensorLines(args, device);
  if (plan.chunks == 0) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan)
                                           : Run<__half>(args, plan);
}

}  // namespace stridewise
