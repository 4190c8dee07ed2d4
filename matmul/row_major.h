// The library call's argument as the registry's: what is column-major becomes row-major.
//
// A column-major matrix, read row by row, is its transpose, and C^T = op(B)^T op(A)^T. So the
// column-major product of A and B is the row-major one of B and A, without a copy: m and n change
// places, and so does everything that belongs to A and B.

#ifndef STRIDEWISE_MATMUL_ROW_MAJOR_H_
#define STRIDEWISE_MATMUL_ROW_MAJOR_H_

#include <utility>

#include "matmul/matmul.h"
#include "matmul/registry.h"

namespace stridewise {

// Everything but the stream.
inline MatMulArgs RowMajorArgs(const MatMulProblem& problem) {
  MatMulArgs args;
  args.m = problem.m;
  args.n = problem.n;
  args.k = problem.k;
  args.a = problem.a;
  args.lda = problem.lda;
  args.b = problem.b;
  args.ldb = problem.ldb;
  args.c = problem.c;
  args.ldc = problem.ldc;
  args.transpose_a = problem.transpose_a;
  args.transpose_b = problem.transpose_b;
  args.alpha = problem.alpha;
  args.beta = problem.beta;
  args.batch = problem.batch;
  args.stride_a = problem.stride_a;
  args.stride_b = problem.stride_b;
  args.stride_c = problem.stride_c;
  args.workspace = problem.workspace;
  args.workspace_bytes = problem.workspace_bytes;
  if (problem.layout == MatrixLayout::kColumnMajor) {
    std::swap(args.m, args.n);
    std::swap(args.a, args.b);
    std::swap(args.lda, args.ldb);
    std::swap(args.transpose_a, args.transpose_b);
    std::swap(args.stride_a, args.stride_b);
  }
  return args;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_ROW_MAJOR_H_
