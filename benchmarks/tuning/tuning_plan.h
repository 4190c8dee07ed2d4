// What block_search --operation=matmul measures: every implementation that the dispatch table of
// `auto` names, over shapes on both sides of every threshold.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TUNING_PLAN_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TUNING_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

// All configurations, those of one multiplication side by side, from small to large. The texts are
// those of --sizes and --shapes; if either is given, only theirs are there. InvalidArgument, in one
// line that names the flag.
absl::StatusOr<std::vector<Config>> MakeTuningPlan(const std::string& sizes,
                                                   const std::string& shapes);

// Whether the implementation would only cost time there: `tiny` and `general_tile`, which run on
// any device, at more than 2^34 FLOP (n = 2048), where the device runs what is made for that. At n
// = 4096 they take 9.7 and 3.0 times as long as the best (docs/results/h200/matmul_ladder.csv).
bool IsHopeless(const Config& config, int compute_capability);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TUNING_PLAN_H_
