// The order of a plan's configurations, and the part of them that is measured.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PLAN_ORDER_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PLAN_ORDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "common/gpu/implementation.h"

namespace stridewise {

// Puts what several selections said of one shape together and drops what they said twice. The order
// is that of MakePlan(); implementations are in the order of `registry`, which has all of them.
std::vector<Config> InOrder(const std::vector<Config>& configs,
                            const std::vector<const Implementation*>& registry,
                            bool small_shapes_first);

// Returns the configurations of the shard's points, of all for an empty text. InvalidArgument,
// naming --shard, where it is not I/N.
absl::StatusOr<std::vector<Config>> ShardOf(std::vector<Config> plan, const std::string& text);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PLAN_ORDER_H_
