// INT8 with up to 64 rows or columns: `tensor_few_int8`. matmul/device/few_int8/decode.h is the
// kernel; all else goes to tensor_int8.

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/few_int8/decode.h"
#include "matmul/device/few_int8/plan.h"
#include "matmul/device/int8/split_plan.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_int8_tiles.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

template <int kColumns>
LaunchStatus Launch(const MatMulArgs& args, const DecodePlan& plan,
                    const TensorOperand<int8_t>& few, const TensorOperand<int8_t>& many) {
  using Tile = FewInt8Tile<kColumns>;
  TensorDecodeGemm gemm = {};
  gemm.few = static_cast<int>(std::min(args.m, args.n));
  gemm.many = static_cast<int>(std::max(args.m, args.n));
  gemm.k = static_cast<int>(args.k);
  gemm.few_rows = FewInt8Rows(gemm.few);
  gemm.split = plan.split;
  const int stage_bytes = DecodeStageBytes(gemm.few_rows, kColumns);
  gemm.stages = FewInt8Stages(kColumns, stage_bytes, plan.resident,
                              CeilDiv(args.k, int64_t{plan.split} * Tile::kBlockK));
  gemm.few_moves = few.matrices.count > 1 ? 1 : 0;
  gemm.many_moves = many.matrices.count > 1 ? 1 : 0;
  gemm.many_data = many.matrix.data;
  gemm.many_ld = many.matrix.ld;
  gemm.many_stride = many.matrices.stride;
  Int8SplitGemm sums = {};
  sums.rows = gemm.few;
  sums.cols = gemm.many;
  sums.split = plan.split;
  sums.alpha = static_cast<int>(args.alpha);
  sums.beta = static_cast<int>(args.beta);
  sums.c = static_cast<int*>(args.c.data);
  sums.of_row = plan.transposed ? 1 : args.c.ld;
  sums.of_col = plan.transposed ? args.c.ld : 1;
  sums.stride = args.c.stride;
  ASSIGN_OR_RETURN(const CUtensorMap map_few, OperandMapOf(few, gemm.few_rows));
  ASSIGN_OR_RETURN(const CUtensorMap map_many, OperandMapOf(many, kColumns));
  const int64_t tiles = CeilDiv(int64_t{gemm.many}, int64_t{kColumns}) * args.batch;
  return LaunchDependentClusters(
      plan.split, TensorFewInt8<Tile>, Grid{tiles * plan.split}, Block{kDecodeThreads},
      Tile::SharedBytes(gemm.stages * stage_bytes), args.stream, map_few, map_many, gemm, sums);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_int8");
  return fallback;
}

// Returns the plan of a call, without columns where another kernel is expected to be faster.
DecodePlan PlanOf(const MatMulArgs& args, const TensorOperands<int8_t>& operands) {
  const DeviceModel device = DeviceOf(args);
  if (args.c.type != ElementType::kInt || !TakesCopies(args, device, operands) ||
      args.workspace_bytes < operands.WorkspaceBytes()) {
    return {};
  }
  // What the others take is expected to be more than it is on an H200 (int8/split_plan.h). Of 50
  // products the choice is so 1.054 times as fast as tensor_int8 in the mean, and 1.042 without it.
  constexpr double kOfOthers = 0.92;
  const DecodePlan plan = PlanFewInt8(args, device);
  const double tiles = Int8TileUs(args, device, PlanInt8Tile(args, device, StoresByTma<int>(args)));
  return plan.us < kOfOthers * std::min(PlanInt8Split(args, device).us, tiles) ? plan
                                                                               : DecodePlan();
}

}  // namespace

LaunchStatus MatMulTensorFewInt8(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const TensorOperands<int8_t> operands(args);
  const DecodePlan plan = PlanOf(args, operands);
  if (plan.cols == 0) return Fallback().run(args);
  RETURN_IF_ERROR(operands.LaunchCopies(args));
  const TileOperands<int8_t> of_tile = operands.OfTile(args, plan.transposed);
  return plan.cols == kFewInt8Cols[0] ? Launch<kFewInt8Cols[0]>(args, plan, of_tile.a, of_tile.b)
                                      : Launch<kFewInt8Cols[1]>(args, plan, of_tile.a, of_tile.b);
}

int64_t MatMulTensorFewInt8WorkspaceBytes(const MatMulArgs& args) {
  return Fallback().workspace_bytes(args);
}

}  // namespace stridewise
