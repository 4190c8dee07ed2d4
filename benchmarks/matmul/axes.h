// The axes that only products have: how the operands are stored, the factors alpha and beta, and
// whether a call has a workspace.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_AXES_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_AXES_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/operation.h"
#include "matmul/operands.h"

namespace stridewise {

// How the matrices are stored.
struct MatMulLayout {
  bool transpose_a = false;
  bool transpose_b = false;
  bool column_major = false;  // All three matrices.
};

// What the axes of a point say.
struct MatMulForm {
  MatMulLayout layout;
  double alpha = 1;
  double beta = 0;
  bool workspace = true;  // As much as the implementation asks for; otherwise none.
  MatMulPrecision precision = MatMulPrecision::kFp32;
  bool bias = false;
  Activation activation = Activation::kNone;
};

// The axes in the order of MatMulAxes(), for Point::axes.
enum MatMulAxis : size_t {
  kLayoutAxis,
  kAlphaAxis,
  kBetaAxis,
  kWorkspaceAxis,
  kPrecisionAxis,
  kEpilogueAxis,
};

// Returns --layouts, --alpha, --beta, --workspace, --precision and --epilogue. Values of a layout
// are "nn", "tn", "nt_col": op(A), op(B), and _col where the matrices are column-major. A factor
// has a magnitude of 1e30 at most, which float can hold. Values of a workspace are "asked" and
// "no", of a precision the names of PrecisionName(), of an epilogue "none", "bias", "relu", "gelu",
// "gelu_erf", "bias_relu", "bias_gelu" and "bias_gelu_erf".
absl::Span<const Axis> MatMulAxes();

// REQUIRES: the values are those that the axes' parsers returned.
MatMulForm FormOf(const Point& point);

// Returns whether it is the plain A * B, which every implementation takes. Column-major matrices
// without transpositions are the plain product of the exchanged operands.
bool IsPlain(const MatMulForm& form);

// Returns whether there is neither a bias nor an activation.
bool HasNoEpilogue(const MatMulForm& form);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_AXES_H_
