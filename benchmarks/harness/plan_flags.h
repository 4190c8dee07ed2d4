// The flags that say what is measured, the same in every program.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PLAN_FLAGS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PLAN_FLAGS_H_

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/plan.h"

namespace stridewise {

// Reads --implementations (or --kernels), --sizes, --shapes, --types, --blocks, --batch and the
// operation's own axes. InvalidArgument, naming the flag, if both names of the first are given, and
// if an axis is given that one of `others` has and the operation has not.
absl::StatusOr<PlanFlags> PlanFlagsFor(const Operation& operation,
                                       absl::Span<const Operation* const> others = {});

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PLAN_FLAGS_H_
