// BF16 and FP16 for products with up to 64 rows or columns: `tensor_decode`.
// matmul/device/tensor/decode.h is the kernel, decode_plan.h divides a call; here it is launched.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/decode.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus LaunchTile(const CallOfTiles& call, const DecodePlan& plan) {
  using Element = typename Tile::Element;
  const MatMulArgs& args = call.args;
  const TensorOperand<Element> few = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> many = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  const int few_rows = DecodeFewRows(args.m, !args.a.transposed);
  ASSIGN_OR_RETURN(const CUtensorMap map_few, OperandMapOf(few, few_rows));
  ASSIGN_OR_RETURN(const CUtensorMap map_many, OperandMapOf(many, Tile::kBoxRowsMany));
  TensorDecodeGemm gemm = {};
  gemm.c = call.c;
  gemm.few = static_cast<int>(args.m);
  gemm.many = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.few_rows = few_rows;
  gemm.split = plan.split;
  const int stage_bytes = DecodeStageBytes(few_rows, Tile::kMany);
  gemm.direct = plan.split <= 2 && !call.c.transposed && call.c.only_alpha && call.c.vectors &&
                args.n % 2 == 0;
  const int sent_bytes = gemm.direct && plan.split == 2 ? SentBytes(Tile::kMany) : 0;
  gemm.stages = DecodeStages(Tile::kMany, stage_bytes, sent_bytes, plan.resident);
  gemm.many_data = static_cast<const uint16_t*>(args.b.data);
  gemm.many_ld = args.b.ld;
  gemm.many_stride = args.b.stride;
  gemm.few_moves = few.matrices.count > 1 ? 1 : 0;
  gemm.many_moves = many.matrices.count > 1 ? 1 : 0;
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  const int64_t tiles = CeilDiv(gemm.many, Tile::kMany) * args.batch;
  return LaunchDependentClusters(plan.split, TensorDecode<Tile>, Grid{tiles * plan.split},
                                 Block{kDecodeThreads},
                                 Tile::SharedBytes(gemm.stages * stage_bytes + sent_bytes),
                                 args.stream, map_few, map_many, gemm);
}

// The tiles of kDecodeCols.
template <typename Element, OperandLayout kMajorFew, OperandLayout kMajorMany>
LaunchStatus LaunchCols(const CallOfTiles& call, const DecodePlan& plan) {
  if constexpr (kMajorMany == OperandLayout::kKMajor) {
    switch (plan.cols) {
      case 96:
        return LaunchTile<TensorDecodeTile<Element, 96, kMajorFew, kMajorMany>>(call, plan);
      case 112:
        return LaunchTile<TensorDecodeTile<Element, 112, kMajorFew, kMajorMany>>(call, plan);
      case 224:
        return LaunchTile<TensorDecodeTile<Element, 224, kMajorFew, kMajorMany>>(call, plan);
      default:
        break;
    }
  }
  return LaunchTile<TensorDecodeTile<Element, 64, kMajorFew, kMajorMany>>(call, plan);
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
