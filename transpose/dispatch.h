// Which implementation `auto` runs, as a table: the first row that applies wins, the last applies
// to everything. Tests walk the table, and documentation prints it.

#ifndef STRIDEWISE_TRANSPOSE_DISPATCH_H_
#define STRIDEWISE_TRANSPOSE_DISPATCH_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "transpose/registry.h"

namespace stridewise {

// A row of the table.
struct TransposeDispatch {
  const char* implementation;  // Its name in the registry.
  const char* when;            // One line: what `applies` asks.
  const char* measured;        // One line: why it is so.
  bool (*applies)(const TransposeArgs& args);
};

absl::Span<const TransposeDispatch> TransposeDispatchTable();

// The row for these arguments, which RunTranspose() would take. Looks at shape, type, batch and
// addresses, never at what they point to.
const TransposeDispatch& ChooseTranspose(const TransposeArgs& args);

// Hands the chosen implementation and its arguments to `run`: once, or matrix by matrix where it
// takes no batches. `run` is RunTranspose() or does the same elsewhere.
absl::Status RunChosenTranspose(const TransposeArgs& args,
                                absl::Status (*run)(const TransposeImplementation& implementation,
                                                    const TransposeArgs& args));

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISPATCH_H_
