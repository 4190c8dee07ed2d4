// The sweeps' columns of the memory behaviour, from the host executor.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_

#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/measure/result_row.h"

namespace stridewise {

// Estimates how many loads and stores all threads together do, from the shape alone. Extents count
// as whole blocks, of 32 or of the longer side of the configuration's: threads beyond the edge cost
// time too.
double EstimatedAccesses(const Config& config);

// What kAuto goes up to: about a second on two cores.
inline constexpr double kMaxAutoAccesses = 33554432.0;

// Fills the columns of a finished row whose kernel the host executor can run, a GPU or not, if
// options.memory_behaviour says so; they stay empty where that fails for want of memory and the
// like. What its checks find in the kernel makes the row a mismatch, whatever the result was. Takes
// up to a second (kAuto) or as long as it needs (kAlways), on all cores: to be called when nothing
// is timed.
void FillMemoryBehaviour(const Config& config, const SweepOptions& options, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_
