// What the words of a sweep's point are to MatMul(): the types that its type names, and the
// arguments of its shape and form.

#ifndef STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_ARGS_H_
#define STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_ARGS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/problem.h"
#include "matmul/matmul.h"
#include "matmul/registry.h"

namespace stridewise {

// Lists the names of element types, and returns what one of them stands for.
absl::Span<const absl::string_view> MatMulTypeNames();
MatMulTypes TypesOf(absl::string_view name);

// Returns the row-major multiplication that a point comes to, without pointers: no gaps between
// rows, and none between the matrices of a batch.
MatMulArgs GaplessArgs(const Point& point);

// Returns the problem of which RowMajorArgs() makes these arguments, without workspace and
// epilogue.
MatMulProblem ProblemOf(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_MATMUL_PRODUCT_ARGS_H_
