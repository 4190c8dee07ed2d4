// What every transpose and copy asks of its arguments.

#ifndef STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_
#define STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_

#include "absl/status/status.h"
#include "transpose/registry.h"

namespace stridewise {

// InvalidArgument, in one line that names the argument, its value and what is allowed, for anything
// that the implementation does not take: sizes and leading dimensions, null and misaligned
// pointers, memory that overlaps, batches, workspace, block. Looks at addresses only, never at what
// they point to. No elements, no pointers needed.
absl::Status CheckTransposeArgs(const TransposeImplementation& implementation,
                                const TransposeArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_
