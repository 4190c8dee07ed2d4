// The checks of a multiplication's arguments.

#ifndef STRIDEWISE_MATMUL_CHECK_ARGS_H_
#define STRIDEWISE_MATMUL_CHECK_ARGS_H_

#include "absl/status/status.h"
#include "matmul/registry.h"

namespace stridewise {

// What messages call the arguments, for callers who know them by other names.
struct MatMulArgumentNames {
  const char* m = "m";
  const char* n = "n";
  const char* a = "a";
  const char* lda = "lda";
  const char* stride_a = "stride_a";
  const char* b = "b";
  const char* ldb = "ldb";
  const char* stride_b = "stride_b";
};

// Returns InvalidArgument, in one line that names the argument, its value and what is allowed, for
// anything that the implementation does not take: element types, extents, leading dimensions and
// strides, null and misaligned pointers, more elements than there are addresses, the general form,
// workspace, block. Looks at addresses only, never at what they point to. No elements, no pointers
// needed.
absl::Status CheckMatMulArgs(const MatMulImplementation& implementation, const MatMulArgs& args,
                             const MatMulArgumentNames& names = {});

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CHECK_ARGS_H_
