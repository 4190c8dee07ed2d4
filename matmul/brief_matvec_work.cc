// Counts of `brief_matvec` (matmul/library/brief_matvec.cu).

#include <algorithm>

#include "matmul/brief_matvec_plan.h"
#include "matmul/count_blocks.h"
#include "matmul/kernel_work.h"

namespace stridewise {

MatMulWork BriefMatVecWork(const MatMulCall& call, const MatMulTile& /*tile*/) {
  const MatMulArgs& args = call.args;
  const BriefMatVecPlan plan =
      PlanBriefMatVec(std::max(args.m, args.n), static_cast<int64_t>(call.k), args.batch,
                      BriefMatVecIsKMajor(args), call.device);
  constexpr MatMulDivisor kResident = 8;
  const double blocks = Double(plan.blocks);
  MatMulWork work = {};
  work.launches = 1;
  AddBlocks(call, blocks, Double(plan.rounds), kResident, &work);
  work.planned = plan.us;
  work.dram_mb = call.dram_mb;
  work.fill = blocks * kResident.inverse * call.multiprocessors.inverse;
  work.waste = 1;
  return work;
}

}  // namespace stridewise
