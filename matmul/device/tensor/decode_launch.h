// How TensorDecode is launched.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_LAUNCH_H_

#include <cuda.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/tensor/decode.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {

// Queues a call, whose A has the few rows, with a tile of the plan's columns.
template <typename Tile>
LaunchStatus LaunchDecode(const CallOfTiles& call, const DecodePlan& plan) {
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
  gemm.many_data = args.b.data;
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

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_LAUNCH_H_
