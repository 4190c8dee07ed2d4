// Makes the registry's arguments of the library calls' views.

#ifndef STRIDEWISE_TRANSPOSE_VIEW_ARGS_H_
#define STRIDEWISE_TRANSPOSE_VIEW_ARGS_H_

#include "absl/status/status.h"
#include "transpose/args.h"
#include "transpose/check_args.h"
#include "transpose/transpose.h"

namespace stridewise {

// What callers with views call the arguments.
inline constexpr TransposeArgumentNames kViewNames = {
    "in.rows", "in.cols",  "in.element_bytes", "in.batch",        "in.data",
    "in.ld",   "out.data", "out.ld",           "in.batch_stride", "out.batch_stride"};

// Returns the arguments without checking that the views fit each other.
TransposeArgs ArgsOfViews(const MatrixView& in, const MutableMatrixView& out);

// Sets the arguments. Returns InvalidArgument where shapes, batches or element sizes do not fit
// each other.
absl::Status ArgsOfViews(const MatrixView& in, const MutableMatrixView& out, TransposeArgs* args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_VIEW_ARGS_H_
