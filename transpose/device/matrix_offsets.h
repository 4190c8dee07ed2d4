// Where the matrices of a batch lie, or of a batch of batches. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/args.h"
#include "transpose/device/small_divisor.h"

namespace stridewise {

// The elements from the first matrix to each. A permutation of four dimensions, two of which are
// the matrix, is a batch of batches: two divisions that no other batch has.
struct MatrixOffsets {
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  int64_t outer_in = 0;
  int64_t outer_out = 0;
  uint32_t nested = 0;  // See TransposeArgs.
  BlockDivisor by_nested = BlockDivisor();

  __device__ int64_t In(int64_t matrix) const { return Of(matrix, stride_in, outer_in); }
  __device__ int64_t Out(int64_t matrix) const { return Of(matrix, stride_out, outer_out); }

 private:
  __device__ int64_t Of(int64_t matrix, int64_t stride, int64_t outer) const {
    if (nested == 0) return matrix * stride;
    const uint32_t group = by_nested.Quotient(static_cast<uint32_t>(matrix));
    return group * outer + (matrix - int64_t{group} * nested) * stride;
  }
};

// REQUIRES: fewer than 2^31 matrices where they are nested.
inline MatrixOffsets OffsetsOf(const TransposeArgs& args) {
  const auto nested = static_cast<uint32_t>(args.nested);
  return {args.stride_in, args.stride_out, args.outer_in,
          args.outer_out, nested,          BlockDivisor(nested == 0 ? 1 : nested)};
}

// Returns the elements of `in` from the first to the last of all matrices. REQUIRES: args.batch >
// 0.
inline int64_t SpanOfIn(const TransposeArgs& args) {
  const int64_t matrix = (args.rows - 1) * args.ld_in + args.cols;
  if (args.nested == 0) return (args.batch - 1) * args.stride_in + matrix;
  return (args.batch / args.nested - 1) * args.outer_in + (args.nested - 1) * args.stride_in +
         matrix;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_
