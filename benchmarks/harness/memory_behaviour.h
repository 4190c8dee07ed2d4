// The sweeps' columns of the memory behaviour, from the host executor.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_

#include "benchmarks/harness/kernel_config.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/measure/result_row.h"

namespace stridewise {

// How many loads and stores all threads together do, about, from the shape alone. Of transposes
// four an element (load and store, and both again where it goes through shared memory), of products
// two a multiply-add. Extents count as whole blocks, of 32 or of the longer side of the
// configuration's: threads beyond the edge cost time too.
double EstimatedAccesses(const KernelConfig& config);

// What kAuto goes up to: about a second on two cores.
inline constexpr double kMaxAutoAccesses = 33554432.0;

// Fills the columns of a finished row whose kernel the host executor can run, a GPU or not, if
// options.memory_behaviour says so; they stay empty for products with beta, and where it fails for
// want of memory and the like. What its checks find in the kernel makes the row a mismatch,
// whatever the result was. Takes up to a second (kAuto) or as long as it needs (kAlways), on all
// cores: to be called when nothing is timed.
void FillMemoryBehaviour(const KernelConfig& config, const SweepOptions& options, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_MEMORY_BEHAVIOUR_H_
