// Counts of `outer` (matmul/library/outer.cu).

#include "matmul/count_blocks.h"
#include "matmul/kernel_work.h"
#include "matmul/outer_plan.h"

namespace stridewise {

MatMulWork OuterWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const MatMulArgs& args = call.args;
  const OuterPlan plan = PlanOuter(args.m, args.n, args.batch, call.device.multiprocessors);
  const double cols = plan.lanes * plan.lane_cols;
  const int rows_at_once = kOuterThreads / plan.lanes;
  const MatMulDivisor resident = call.k > 8 ? 4 : call.k > 4 ? 7 : 10;  // As registers allow it.
  const double blocks = Double(plan.row_blocks) * Double(plan.col_blocks) * call.batch;
  MatMulWork work = {};
  work.launches = 1;
  // A step is a row of each group of lanes.
  AddBlocks(call, blocks, Double(plan.rows_of_block / rows_at_once), resident, &work);
  work.mfma = work.block_steps * kOuterThreads * plan.lane_cols * call.k / 1e6;
  work.dram_mb = call.dram_mb;
  work.fill = blocks * resident.inverse * call.multiprocessors.inverse;
  work.waste = blocks * plan.rows_of_block * cols * call.one_over_elements;
  return work;
}

}  // namespace stridewise
