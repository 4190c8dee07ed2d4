// Counts of `direct` (matmul/library/direct.cu).

#include "matmul/count_blocks.h"
#include "matmul/direct_plan.h"
#include "matmul/kernel_work.h"

namespace stridewise {

MatMulWork DirectWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const MatMulArgs& args = call.args;
  const DirectPlan plan = PlanDirect(args.m, args.n, args.k);
  constexpr MatMulDivisor kResident = 12;
  const double blocks = Double(plan.row_blocks * plan.col_blocks) * call.batch;
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, blocks, call.k, kResident, &work);
  // Rows along k, and columns along k, are read a line for each.
  work.slow_copies = work.block_steps * ((args.a.transposed ? 0 : 1) + (args.b.transposed ? 1 : 0));
  work.mfma = work.tiles * plan.rows_of_thread * Double(kDirectThreads) * call.k / 1e6;
  work.dram_mb = call.dram_mb;
  work.fill = blocks * kResident.inverse * call.multiprocessors.inverse;
  work.waste = blocks * plan.rows_of_thread * Double(kDirectThreads) * call.one_over_elements;
  return work;
}

}  // namespace stridewise
