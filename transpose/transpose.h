// Transposes matrices in device memory with the fastest kernel for each shape, in one call.
//
//   const MatrixView in = {device_in, rows, cols, cols, sizeof(float)};
//   const MutableMatrixView out = {device_out, cols, rows, rows, sizeof(float)};
//   absl::Status status = Transpose(in, out, stream);
//
// out(c, r) = in(r, c), for each matrix of a batch. Matrices are row-major in device memory, rows
// `ld` elements apart, of any shape. Elements have 1, 2, 4, 8 or 16 bytes and are moved, never
// interpreted; pointers must be multiples of the element's size. The kernel is chosen by shape,
// type and alignment (dispatch.h): multiples of 16 bytes for pointers and rows are the fastest, but
// a size like 8191 x 8193 is also within a few percent of a copy.
//
// The call queues work on the stream and returns. It allocates nothing, waits for nothing, keeps no
// state, may be captured into a graph, and may be made from any thread. Errors inside the kernel
// show at the next synchronisation.

#ifndef STRIDEWISE_TRANSPOSE_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_TRANSPOSE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// A matrix to be read, or a batch of matrices of the same shape.
struct MatrixView {
  const void* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;  // Elements from one row to the next, >= cols.
  int64_t element_bytes = 4;
  int64_t batch = 1;         // The number of matrices.
  int64_t batch_stride = 0;  // Elements from one matrix to the next.
};

// A matrix to be written, or a batch of matrices of the same shape.
struct MutableMatrixView {
  void* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  int64_t element_bytes = 4;
  int64_t batch = 1;
  int64_t batch_stride = 0;
};

// Transposes `in` into `out`, which has its rows and columns exchanged. If out.data == in.data it
// works in place: square matrices then need the same ld on both sides, others a workspace, and
// batches the same batch_stride. Nothing but the elements of `out` is written.
//
// Returns InvalidArgument, naming the argument, and launches nothing, if shapes, batches or element
// sizes do not fit each other, if ld < cols, if a pointer to elements is null or not a multiple of
// the element's size, if `in` and `out` overlap without being the same memory, or if the workspace
// is too small.
absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, cudaStream_t stream);

// Returns the bytes of device memory that the transpose needs beside its matrices: those of one
// matrix if it is in place and not square, and else 0.
int64_t TransposeWorkspaceBytes(const MatrixView& in, const MutableMatrixView& out);

// Does the same with a workspace, at a multiple of 16, that belongs to the call until its work on
// the stream is done.
absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, void* workspace,
                       int64_t workspace_bytes, cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TRANSPOSE_H_
