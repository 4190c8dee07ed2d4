// The house's fastest FP32 matrix multiplication, in one call; docs/matmul.md compares it with
// cuBLAS.
//
//   MatMulProblem problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = a; problem.lda = k;
//   problem.b = b; problem.ldb = n;
//   problem.c = c; problem.ldc = n;
//   absl::Status status = MatMul(problem, stream);
//
// C = alpha * op(A) * op(B) + beta * C, for each multiplication of a batch; op(A) is m x k, op(B)
// k x n, C m x n, in device memory, of any shape and with any leading dimensions, pointers
// multiples of 4 bytes and no more. Arithmetic is IEEE FP32, one fused multiply-add a term, sums in
// an order that depends on the shape, the workspace and the GPU and on nothing else: the same call
// gives the same bits. NaN and Inf propagate as IEEE 754 asks.
//
// The call queues work on the stream and returns. It allocates nothing, waits for nothing, keeps no
// state, may be captured into a graph, and may be made from any thread. Errors inside the kernel
// show at the next synchronisation. The kernel is chosen by shape and alignment (dispatch.h).

#ifndef STRIDEWISE_MATMUL_MATMUL_H_
#define STRIDEWISE_MATMUL_MATMUL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// Whether neighbours in memory are of one row or of one column.
enum class MatrixLayout { kRowMajor, kColumnMajor };

// What MatMul() is asked for. From transpose_a on the defaults are those of the plain C = A * B.
struct MatMulProblem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  // Leading dimensions are elements from one row's start to the next, or from one column's where
  // the layout is column-major: at least the length of what they step over.
  const float* a = nullptr;
  int64_t lda = 0;
  const float* b = nullptr;
  int64_t ldb = 0;
  float* c = nullptr;
  int64_t ldc = 0;

  bool transpose_a = false;                       // A is stored k x m, and op(A) is its transpose.
  bool transpose_b = false;                       // B is stored n x k.
  float alpha = 1;                                // 0: A and B are not read.
  float beta = 0;                                 // 0: C is not read.
  MatrixLayout layout = MatrixLayout::kRowMajor;  // Of all three.

  // Multiplications of this shape, their matrices so many elements apart. With a stride of 0 all
  // use the same A, or B.
  int64_t batch = 1;
  int64_t stride_a = 0;
  int64_t stride_b = 0;
  int64_t stride_c = 0;

  // Device memory for packed operands and partial sums, a multiple of 16, that belongs to the call
  // until its work on the stream is done. Never needed: without it, or with less than
  // MatMulWorkspaceBytes(), many shapes take longer, large ones by 7 % or so.
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
};

// Queues C = alpha * op(A) * op(B) + beta * C on the stream. C must not overlap A, B or the
// workspace.
//
// InvalidArgument, naming the argument, and nothing launched: for negative extents, leading
// dimensions or strides that are too small or span 2^63 bytes, pointers that are null with elements
// or no multiples of 4, or k of 2^31 and more.
absl::Status MatMul(const MatMulProblem& problem, cudaStream_t stream);

// The workspace that makes the call fastest, in bytes: 0 for small products, for large ones as much
// as the operands that have to be packed, and some MB. Looks at everything but pointers, which it
// takes for multiples of 16 bytes. Of the calling thread's device, as MatMul() is.
int64_t MatMulWorkspaceBytes(const MatMulProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_MATMUL_H_
