// BF16 and FP16 for products with up to 64 rows or columns: `tensor_decode`.
// matmul/device/tensor/decode.h is the kernel, decode_plan.h divides a call, decode_launch.h
// launches it.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/decode_launch.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

// The tiles of kDecodeCols.
template <typename Element, OperandLayout kMajorFew, OperandLayout kMajorMany>
LaunchStatus LaunchCols(const CallOfTiles& call, const DecodePlan& plan) {
  if constexpr (kMajorMany == OperandLayout::kKMajor) {
    switch (plan.cols) {
      case 96:
        return LaunchDecode<TensorDecodeTile<Element, 96, kMajorFew, kMajorMany>>(call, plan);
      case 112:
        return LaunchDecode<TensorDecodeTile<Element, 112, kMajorFew, kMajorMany>>(call, plan);
      case 224:
        return LaunchDecode<TensorDecodeTile<Element, 224, kMajorFew, kMajorMany>>(call, plan);
      default:
        break;
    }
  }
  return LaunchDecode<TensorDecodeTile<Element, 64, kMajorFew, kMajorMany>>(call, plan);
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const DecodePlan& plan) {
  const CallOfTiles call(args, plan.transposed);
  return ForLayouts(call.args, [&](auto few, auto many) {
    return LaunchCols<Element, few(), many()>(call, plan);
  });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_split");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorDecode(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device) || !TensorDecodeTakes(args)) return Fallback().run(args);
  const DecodePlan plan = PlanTensorDecode(args, device);
  if (plan.cols == 0) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan)
                                           : Run<__half>(args, plan);
}

}  // namespace stridewise
