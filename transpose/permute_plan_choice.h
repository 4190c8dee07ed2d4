// Chooses the plan by which permute_tile.cu cuts a tensor.
//
// How long the runs of either side should be depends on both: a run of `out` that ends inside a
// sector costs words and elements stored one by one, a short run of `in` costs rows, and a large
// tile costs threads that could hide the latency of others. The choice makes plans with runs of
// `out` from a quarter of those of `in` to four times as long, in three sizes, and takes the one
// whose predicted cost is least, with parts of runs that begin at sectors or where they are cut: 5
// to 16 plans of half a microsecond each. Of large tensors of bytes, wavefronts of shared memory
// are counted for those that may be the best, 25 microseconds each.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_CHOICE_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_CHOICE_H_

#include <cstdint>

#include "transpose/permute_args.h"
#include "transpose/permute_plan.h"

namespace stridewise {

// Returns the predicted time of a plan over that of a copy, for tensors that the L2 does not hold.
// REQUIRES: `plan` is MakePermutePlan()'s, for elements of `element_bytes`.
double PredictedCost(const PermutePlan& plan, int64_t element_bytes);

// Returns the plan within args.limits where there are any, and otherwise the one of least predicted
// cost, which a thread keeps with its latest ones: it is made once for calls that repeat. REQUIRES:
// `args` is what Canonical() returned, of rank 1 or more.
PermutePlan ChoosePermutePlan(const PermuteArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_PLAN_CHOICE_H_
