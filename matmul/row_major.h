// Makes the registry's arguments of the library call's: what is column-major becomes row-major.
//
// A column-major matrix, read row by row, is its transpose, and C^T = op(B)^T op(A)^T. So the
// column-major product of A and B is the row-major one of B and A, without a copy: m and n change
// places, and so does everything that belongs to A and B.

#ifndef STRIDEWISE_MATMUL_ROW_MAJOR_H_
#define STRIDEWISE_MATMUL_ROW_MAJOR_H_

#include <utility>

#include "matmul/args.h"
#include "matmul/matmul.h"

namespace stridewise {

// Returns the arguments of the same multiplication; those that a problem lacks have their defaults.
inline MatMulArgs RowMajorArgs(const MatMulProblem& problem) {
  MatMulArgs args;
  args.m = problem.m;
  args.n = problem.n;
  args.k = problem.k;
  args.a = problem.a;
  args.b = problem.b;
  args.c = problem.c;
  args.alpha = problem.alpha;
  args.beta = problem.beta;
  args.batch = problem.batch;
  args.precision = problem.precision;
  args.epilogue = problem.epilogue;
  args.scales = problem.scales;
  args.workspace = problem.workspace;
  args.workspace_bytes = problem.workspace_bytes;
  if (problem.layout == MatrixLayout::kColumnMajor) {
    std::swap(args.m, args.n);
    std::swap(args.a, args.b);
    std::swap(args.scales.a, args.scales.b);
  }
  return args;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ROW_MAJOR_H_
