// Reads the structures of arguments of stridewise.h, from callers whose header may be older or
// newer than this library.

#ifndef STRIDEWISE_BINDINGS_C_ARGUMENTS_H_
#define STRIDEWISE_BINDINGS_C_ARGUMENTS_H_

#include "absl/status/statusor.h"
#include "bindings/c/stridewise.h"
#include "matmul/matmul.h"
#include "transpose/permute.h"
#include "transpose/transpose.h"

namespace stridewise {

struct TransposeViews {
  MatrixView in;
  MutableMatrixView out;
};

// Return what the arguments say. InvalidArgument names the field and its value; Unimplemented is
// for fields that this library does not know. Which types, precisions and epilogues a product may
// have is the library's to say: here numbers become names.
absl::StatusOr<MatMulProblem> ProblemOf(const stridewise_matmul_args* given);
absl::StatusOr<PermuteProblem> ProblemOf(const stridewise_permute_args* given);
absl::StatusOr<TransposeViews> ViewsOf(const stridewise_transpose_args* given);

}  // namespace stridewise

#endif  // STRIDEWISE_BINDINGS_C_ARGUMENTS_H_
