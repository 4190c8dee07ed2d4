// Where the matrices of a batch lie, or of a batch of batches.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_

#include <cstdint>

#include "common/base/matrix.h"
#include "transpose/args.h"
#include "transpose/device/small_divisor.h"

namespace stridewise {

// The elements from the first matrix to each. A permutation of four dimensions, two of which are
// the matrix, is a batch of batches: groups of `nested` matrices, stride_in and stride_out apart,
// and outer_in and outer_out from one group to the next. REQUIRES: fewer than 2^31 matrices where
// they are nested.
struct MatrixOffsets {
  int64_t stride_in = 0;
  int64_t stride_out = 0;
  int64_t outer_in = 0;
  int64_t outer_out = 0;
  uint32_t nested = 0;  // 0: one batch.
  BlockDivisor by_nested = BlockDivisor();

  // kNested: whether the matrices may be nested. Where they are not, kernels compute no division,
  // which costs small matrices a hundredth of their time.
  template <bool kNested>
  STRIDEWISE_HOST_DEVICE int64_t In(int64_t matrix) const {
    return Of<kNested>(matrix, stride_in, outer_in);
  }
  template <bool kNested>
  STRIDEWISE_HOST_DEVICE int64_t Out(int64_t matrix) const {
    return Of<kNested>(matrix, stride_out, outer_out);
  }
  // Returns how many nested matrices from this one on are stride_in apart.
  STRIDEWISE_HOST_DEVICE int LeftOfGroup(int64_t matrix) const {
    const uint32_t group = by_nested.Quotient(static_cast<uint32_t>(matrix));
    return static_cast<int>((group + 1) * nested - static_cast<uint32_t>(matrix));
  }

 private:
  template <bool kNested>
  STRIDEWISE_HOST_DEVICE int64_t Of(int64_t matrix, int64_t stride, int64_t outer) const {
    if constexpr (!kNested) return matrix * stride;
    const uint32_t group = by_nested.Quotient(static_cast<uint32_t>(matrix));
    return group * outer + (matrix - int64_t{group} * nested) * stride;
  }
};

inline MatrixOffsets OffsetsOf(const TransposeArgs& args) {
  return {args.stride_in, args.stride_out};
}

// Returns the elements of `in` from the first to the last of all matrices. REQUIRES: args.batch >
// 0.
inline int64_t SpanOfIn(const TransposeArgs& args, const MatrixOffsets& offsets) {
  const int64_t last =
      offsets.nested != 0 ? offsets.In<true>(args.batch - 1) : offsets.In<false>(args.batch - 1);
  return last + (args.rows - 1) * args.ld_in + args.cols;
}

// Returns whether there is no byte between rows, nor between matrices, of `out`.
inline bool HasGaplessOut(const TransposeArgs& args, const MatrixOffsets& offsets) {
  const int64_t elements = args.rows * args.cols;
  return args.ld_out == args.rows && offsets.stride_out == elements &&
         (offsets.nested == 0 || offsets.outer_out == offsets.nested * elements);
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_MATRIX_OFFSETS_H_
