// Checks the arguments of every transpose and copy before anything is launched.

#ifndef STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_
#define STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "transpose/registry.h"

namespace stridewise {

// The names that messages use, for callers who know the arguments by other names.
struct TransposeArgumentNames {
  const char* rows = "rows";
  const char* cols = "cols";
  const char* element_bytes = "element_bytes";
  const char* batch = "batch";
  const char* in = "in";
  const char* ld_in = "ld_in";
  const char* out = "out";
  const char* ld_out = "ld_out";
  const char* stride_in = "stride_in";
  const char* stride_out = "stride_out";
  const char* workspace = "workspace";
};

// Returns InvalidArgument, in one line that names the argument, its value and what is allowed, for
// anything that the implementation does not take: sizes and leading dimensions, null and misaligned
// pointers, memory that overlaps, batches, workspace, block. Looks at addresses only, never at what
// they point to. Where there are no elements, pointers may be null.
absl::Status CheckTransposeArgs(const TransposeImplementation& implementation,
                                const TransposeArgs& args,
                                const TransposeArgumentNames& names = {});

// Returns InvalidArgument, naming both, unless they are equal.
absl::Status CheckEqual(const char* name, int64_t value, const char* other_name, int64_t other);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CHECK_ARGS_H_
