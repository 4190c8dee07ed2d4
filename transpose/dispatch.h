// Which implementation `auto` runs. The table is made of those lines of library.inc that say when
// they apply, in their order: the first that applies wins, and the last applies to everything.
// Tests walk the table, and programs print it.

#ifndef STRIDEWISE_TRANSPOSE_DISPATCH_H_
#define STRIDEWISE_TRANSPOSE_DISPATCH_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "transpose/registry.h"

namespace stridewise {

// A row of the table.
struct TransposeDispatch : TransposeDispatchRule {
  const char* implementation = "";  // Its name in the registry.
};

absl::Span<const TransposeDispatch> TransposeDispatchTable();

// Returns the row for these arguments, which RunTranspose() would take. Looks at shape, type, batch
// and addresses, never at what they point to.
const TransposeDispatch& ChooseTranspose(const TransposeArgs& args);

// Hands the chosen implementation and its arguments to `run`: once, or matrix by matrix where it
// takes no batches. `run` is RunTranspose() or does the same elsewhere.
absl::Status RunChosenTranspose(const TransposeArgs& args,
                                absl::Status (*run)(const TransposeImplementation& implementation,
                                                    const TransposeArgs& args));

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISPATCH_H_
