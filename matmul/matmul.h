// The fastest matrix multiplication of the house for shape, types and GPU, in one call;
// docs/matmul.md compares it with cuBLAS.
//
//   MatMulProblem problem;
//   problem.m = m; problem.n = n; problem.k = k;
//   problem.a = {a, /*leading_dimension=*/k};
//   problem.b = {b, n};
//   problem.c = {c, n};
//   absl::Status status = MatMul(problem, stream);
//
// C = alpha * op(A) * op(B) + beta * C, for each multiplication of a batch; op(A) is m x k, op(B)
// k x n, C m x n, in device memory, of any shape and with any leading dimensions. Pointers need be
// multiples of the element's size only. The order of a sum depends on the shape, the workspace, the
// GPU, the tuning (tuning.h) and, where the device chooses between two kinds of parts
// (kFp32SplitInt8), on which of them the operands allow, so that the same call gives the same bits.
// NaN and Inf propagate as in IEEE 754. The element types that are taken (of A and B the same, but
// for E4m3 and E5m2, which may be mixed):
//   A, B        C                    arithmetic
//   float       float                IEEE FP32, one fused multiply-add for each product; or as
//                                    `precision` says
//   Bf16, Fp16  their type, float    exact products, sums in FP32 cut off toward zero; of Fp16 in
//                                    FP16 where `precision` is kFp16Sums
//   int8_t      int32_t              exact
//               float                exact sums, rounded to float once before alpha
//   E4m3, E5m2  float, Bf16, Fp16    exact products, sums of 13 bits promoted to FP32 every 128 of
//                                    k, but where `precision` is kFastSums; `scales` multiply them
// A sum is rounded once to C's type, and twice where `epilogue` takes a pass of its own; C of
// int32_t takes no epilogue (docs/tensor_cores.md, docs/fp32_split.md).
//
// The call queues work on the stream and returns. It allocates nothing, waits for nothing, may
// be captured into a graph, and may be made from any thread. It remembers what the runtime says of
// a device and of a kernel and, for each thread, which kernels it chose last; results do not depend
// on that. Errors inside the kernel show at the next synchronisation. The kernel is chosen by shape
// and alignment (dispatch.h). context.h has the same call with a workspace that takes care of
// itself.

#ifndef STRIDEWISE_MATMUL_MATMUL_H_
#define STRIDEWISE_MATMUL_MATMUL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device_scope.h"
#include "matmul/operands.h"

namespace stridewise {

// Whether neighbours in memory belong to one row or to one column.
enum class MatrixLayout { kRowMajor, kColumnMajor };

// Describes what MatMul() computes. From alpha on the defaults are those of the plain C = A * B on
// the current device.
struct MatMulProblem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  // Where the layout is column-major, leading dimensions step from one column to the next. They are
  // at least the length of what they step over.
  MatMulInput a;   // Stored m x k, or k x m where it is transposed.
  MatMulInput b;   // Stored k x n, or n x k where it is transposed.
  MatMulOutput c;  // Stored m x n.

  double alpha = 1;                               // 0: A and B are not read.
  double beta = 0;                                // 0: C is not read.
  MatrixLayout layout = MatrixLayout::kRowMajor;  // Of all three.
  int64_t batch = 1;                              // The number of multiplications of this shape.
  MatMulPrecision precision = MatMulPrecision::kFp32;
  MatMulEpilogue epilogue;
  MatMulScales scales;  // Of 8-bit floating-point operands; per 128 only where they are row-major.
  int device = kCurrentDevice;  // Where the matrices and the stream are.

  // Device memory for packed operands and partial sums, a multiple of 16, that belongs to the call
  // until its work on the stream is done. Never needed: without it, or with less than
  // MatMulWorkspaceBytes(), 100 random shapes take 3 % longer on an H200 in the geometric mean, 19
  // % at the 95th percentile and 45 % at worst. On GPUs without clusters (before compute
  // capability 9.0) few tiles with a deep k do not fill the machine.
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
};

// Queues C = alpha * op(A) * op(B) + beta * C on the stream. C must not overlap A, B or the
// workspace.
//
// Returns InvalidArgument, naming the argument, and launches nothing: for negative extents, leading
// dimensions or strides that are too small or span 2^63 bytes, pointers that are null with elements
// or are not aligned to an element, element types that it does not take, a device that is not
// there, or k of 2^31 and more.
absl::Status MatMul(const MatMulProblem& problem, cudaStream_t stream);

// Returns the bytes of workspace that make the call fastest: 0 for small products, for large ones
// the size of the operands that have to be packed, and some MB. Looks at everything but pointers,
// which it takes for multiples of 16 bytes.
int64_t MatMulWorkspaceBytes(const MatMulProblem& problem);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_MATMUL_H_
