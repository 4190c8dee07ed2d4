// The fastest matrix transpose there is, in one call.
//
//   const MatrixView in = {device_in, rows, cols, cols, sizeof(float)};
//   const MutableMatrixView out = {device_out, cols, rows, rows, sizeof(float)};
//   absl::Status status = Transpose(in, out, stream);
//
// out(c, r) = in(r, c), for each matrix of a batch. Matrices are row-major in device memory, rows
// `ld` elements apart, any shape, elements of 1, 2, 4, 8 or 16 bytes that are moved and never
// interpreted; pointers need to be multiples of the element's size and no more. The kernel is
// chosen by shape, type and alignment (dispatch.h); multiples of 16 bytes for pointers and rows are
// the fastest, and a size like 8191 x 8193 is within a few percent of a copy all the same.
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

// A matrix to be read, or a batch of the same shape.
struct MatrixView {
  const void* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;  // Elements from one row to the next, >= cols.
  int64_t element_bytes = 4;
  int64_t batch = 1;         // Matrices of this shape,
  int64_t batch_stride = 0;  // each so many elements behind the one before it.
};

// The same, to be written.
struct MutableMatrixView {
  void* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  int64_t element_bytes = 4;
  int64_t batch = 1;
  int64_t batch_stride = 0;
};

// Transposes `in` into `out`, which has its rows and columns exchanged. With out.data == in.data in
// place: square matrices then need the same ld on both sides, others a workspace, and batches the
// same batch_stride. Nothing but the elements of `out` is written.
//
// InvalidArgument, naming the argument, and nothing launched: for shapes, batches or element sizes
// that do not fit each other, ld < cols, null with elements, pointers that are no multiple of the
// element's size, memory of `in` and `out` that overlaps without being the same, or a workspace
// that is too small.
absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, cudaStream_t stream);

// Bytes of device memory that the transpose needs beside its matrices: 0 unless it is in place and
// not square; then those of one matrix.
int64_t TransposeWorkspaceBytes(const MatrixView& in, const MutableMatrixView& out);

// As Transpose(), with a workspace, a multiple of 16, that belongs to the call until its work on
// the stream is done.
absl::Status Transpose(const MatrixView& in, const MutableMatrixView& out, void* workspace,
                       int64_t workspace_bytes, cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TRANSPOSE_H_
