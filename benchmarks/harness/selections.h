// What the command line's flags make of a preset's selections.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SELECTIONS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SELECTIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/preset.h"

namespace stridewise {

// Returns the preset's selections, or those of the flags' shapes, with the flags' types, blocks,
// batch and axes. InvalidArgument, naming the flag, for a batch or an axis that cannot be read, for
// a flag of what is drawn at random, and for a flag of drawing where nothing is drawn.
absl::StatusOr<std::vector<Selection>> SelectionsFor(const Operation& operation,
                                                     const Preset& preset, const PlanFlags& flags);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SELECTIONS_H_
