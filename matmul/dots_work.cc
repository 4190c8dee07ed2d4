// Counts of `dots` (matmul/library/dots.cu).

#include "matmul/count_blocks.h"
#include "matmul/dots_plan.h"
#include "matmul/kernel_work.h"

namespace stridewise {

MatMulWork DotsWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const MatMulArgs& args = call.args;
  const DotsPlan plan = PlanDots(args.m, args.n, static_cast<int64_t>(call.k), args.batch,
                                 call.device.multiprocessors);
  const MatMulDivisor resident = plan.BlocksOfMultiprocessor();
  const auto blocks = Double(plan.Blocks());
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, blocks, Ceil(call.k, Double(int64_t{kDotsStepK} * plan.slices)), resident, &work);
  // A warp's load of an MN-major operand is of 32 rows.
  work.slow_copies = work.block_steps * ((args.a.transposed ? 1 : 0) + (args.b.transposed ? 0 : 1));
  work.dram_mb = call.dram_mb;
  work.fill = blocks * resident.inverse * call.multiprocessors.inverse;
  work.mfma = work.tiles * kDotsWarps * plan.side * plan.side * call.k / plan.slices / 1e6;
  work.waste = Double(plan.tiles) * plan.side * plan.side * call.one_over_elements;
  return work;
}

}  // namespace stridewise
