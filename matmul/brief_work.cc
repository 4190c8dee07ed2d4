// Counts of `brief` (matmul/library/brief.cu).

#include "matmul/brief_plan.h"
#include "matmul/count_blocks.h"
#include "matmul/kernel_work.h"

namespace stridewise {

MatMulWork BriefWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const MatMulArgs& args = call.args;
  const BriefPlan plan = PlanBrief(args.m, args.n, static_cast<int64_t>(call.k), args.batch,
                                   call.vectors_a ? 4 : 1, call.vectors_b ? 4 : 1, call.device);
  const BriefShape& shape = kBriefShapes[plan.shape];
  const MatMulDivisor resident = shape.resident;
  const double tiles = Double(plan.tiles * args.batch);
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, tiles * plan.parts, Double(plan.k_of_part), resident, &work);
  if (plan.parts > 1) {
    work.cluster_tiles = work.rounds;
    work.cluster_blocks = work.rounds * plan.parts;
    work.units = plan.parts;
  }
  const double area = Double(int64_t{shape.rows} * shape.cols);
  work.slow_copies = work.block_steps / 32 *
                     ((call.vectors_a ? 0 : shape.rows) + (call.vectors_b ? 0 : shape.cols));
  work.planned = plan.us;
  work.mfma = work.block_steps * area / 1e6;
  work.dram_mb = call.dram_mb;
  work.fill = tiles * plan.parts * resident.inverse * call.multiprocessors.inverse;
  work.waste = tiles * area * call.one_over_elements;
  return work;
}

}  // namespace stridewise
