// How TensorDecode is launched.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_LAUNCH_H_

#include <cuda.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/tensor/decode.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {

// Returns the map of the few: with boxes of 128 bytes of k, or of all of them for 64 of k.
template <typename Tile>
absl::StatusOr<CUtensorMap> FewMapOf(const TensorOperand<typename Tile::Element>& few,
                                     int few_rows) {
  constexpr int kLine = kSwizzleBytes / static_cast<int>(sizeof(typename Tile::Element));
  if (Tile::kMajorFew == OperandLayout::kKMajor) return OperandMapOf(few, few_rows);
  if (few_rows == kDecodeFewStep) {
    ConstMatrix<typename Tile::Element> lines = few.matrix;  // Of eight of k each.
    lines.rows = few.matrix.rows / kDecodeFewStep;
    lines.cols = lines.ld = kLine;
    return TensorMapOf(lines, few.matrices, few_rows, kLine);
  }
  return TensorMapOf(few.matrix, few.matrices, Tile::kBlockK, few_rows,
                     few_rows == kLine / 4   ? CU_TENSOR_MAP_SWIZZLE_32B
                     : few_rows == kLine / 2 ? CU_TENSOR_MAP_SWIZZLE_64B
                                             : CU_TENSOR_MAP_SWIZZLE_128B);
}

// Queues a call, whose A has the few rows, with a tile of the plan's columns.
template <typename Tile>
LaunchStatus LaunchDecode(const CallOfTiles& call, const DecodePlan& plan) {
  using Element = typename Tile::Element;
  const MatMulArgs& args = call.args;
  const TensorOperand<Element> few = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> many = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  const bool few_along_k = !args.a.transposed;
  const int few_rows = DecodeFewRows(args.a, args.m, args.k, few_along_k);
  ASSIGN_OR_RETURN(const CUtensorMap map_few, FewMapOf<Tile>(few, few_rows));
  ASSIGN_OR_RETURN(const CUtensorMap map_many, OperandMapOf(many, Tile::kBoxRowsMany));
  TensorDecodeGemm gemm = {};
  gemm.c = call.c;
  gemm.few = static_cast<int>(args.m);
  gemm.many = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.few_rows = few_rows;
  gemm.tiles_in_step = DecodeTilesInStep(args.m, few_rows, few_along_k, args.b.transposed);
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
