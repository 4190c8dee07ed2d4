// Which implementation `auto` runs, as a table: the first row that applies wins, the last applies
// to everything. Tests walk the table, and documentation prints it.

#ifndef STRIDEWISE_MATMUL_DISPATCH_H_
#define STRIDEWISE_MATMUL_DISPATCH_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {

struct MatMulDispatch {
  const char* implementation;  // Its name in the registry. Takes the general form.
  const char* when;            // One line: what `applies` asks, thresholds by their names.
  const char* measured;        // One line: why it is so.
  bool (*applies)(const MatMulArgs& args, const MatMulTuning& tuning);
};

absl::Span<const MatMulDispatch> MatMulDispatchTable();

// The row for these arguments on a device of this compute capability (90 for 9.0): the first that
// applies, and whose implementation runs there. 0 leaves those that run everywhere, the host
// executor included. Looks at shape, form, workspace and addresses, never at what they point to.
// The thresholds are those of TuningFor(compute_capability).
const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, int compute_capability);

// The same with other thresholds: for those who look for better ones.
const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, int compute_capability,
                                   const MatMulTuning& tuning);

// Hands the chosen implementation and its arguments to `run`, which is RunMatMul() or does the same
// elsewhere. Nothing to do where C has no elements.
absl::Status RunChosenMatMul(const MatMulArgs& args, int compute_capability,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args));

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISPATCH_H_
