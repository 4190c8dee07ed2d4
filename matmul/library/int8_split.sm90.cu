// INT8 with few tiles and a long k: what `tensor_int8` takes where its persistent tiles would leave
// multiprocessors idle. matmul/device/int8/split.h is the kernel; here it is called.

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/int8/split.h"
#include "matmul/device/int8/split_call.h"

namespace stridewise {
namespace {

template <int kColumns>
LaunchStatus Launch(const MatMulArgs& args, const DeviceModel& device, const Int8SplitPlan& plan,
                    const TensorOperand<int8_t>& a, const TensorOperand<int8_t>& b) {
  using Tile = Int8SplitTile<kColumns>;
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBlockM));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBlockN));
  Int8SplitGemm gemm = {};
  gemm.rows = static_cast<int>(plan.transposed ? args.n : args.m);
  gemm.cols = static_cast<int>(plan.transposed ? args.m : args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.split = plan.split;
  gemm.a_moves = a.matrices.count > 1 ? 1 : 0;
  gemm.b_moves = b.matrices.count > 1 ? 1 : 0;
  gemm.alpha = static_cast<int>(args.alpha);
  gemm.beta = static_cast<int>(args.beta);
  gemm.c = static_cast<int*>(args.c.data);
  gemm.of_row = plan.transposed ? 1 : args.c.ld;
  gemm.of_col = plan.transposed ? args.c.ld : 1;
  gemm.stride = args.c.stride;
  const int64_t tiles =
      CeilDiv(gemm.rows, Tile::kBlockM) * CeilDiv(gemm.cols, Tile::kBlockN) * args.batch;
  gemm.stages = Int8SplitStages(Int8SplitResident(tiles, plan.split, device), kColumns);
  return LaunchDependentClusters(plan.split, TensorInt8Split<Tile>, Grid{tiles * plan.split},
                                 Block{kSplitBlockThreads}, Tile::SharedBytes(gemm.stages),
                                 args.stream, map_a, map_b, gemm);
}

}  // namespace

LaunchStatus MatMulInt8Split(const MatMulArgs& args, const DeviceModel& device,
                             const Int8SplitPlan& plan, const TensorOperands<int8_t>& operands) {
  RETURN_IF_ERROR(operands.LaunchCopies(args));
  const TileOperands<int8_t> of_tile = operands.OfTile(args, plan.transposed);
  switch (plan.cols) {
    case 8:
      return Launch<8>(args, device, plan, of_tile.a, of_tile.b);
    case 16:
      return Launch<16>(args, device, plan, of_tile.a, of_tile.b);
    case 32:
      return Launch<32>(args, device, plan, of_tile.a, of_tile.b);
    default:
      return Launch<64>(args, device, plan, of_tile.a, of_tile.b);
  }
}

}  // namespace stridewise
