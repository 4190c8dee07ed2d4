// Where an index of some dimensions that are taken as one is, for permute_flat.cu and
// permute_joined.cu. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_FLAT_OFFSET_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_FLAT_OFFSET_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/permute_runs.h"

namespace stridewise {

// Returns where index `index` of the dimension is on one side, in bytes from index 0.
__device__ inline int64_t OffsetOf(const FlatDimension& dimension, int64_t FlatDigit::*stride,
                                   uint32_t index) {
  int64_t offset = 0;
#pragma unroll
  for (int i = 0; i < kMaxPermuteRank; ++i) {
    if (i >= dimension.digits) break;
    const FlatDigit& digit = dimension.digit[i];
    const bool last = i + 1 == dimension.digits;
    const uint32_t next = last ? 0 : digit.by_count.Quotient(index);
    offset += (index - next * digit.count) * (digit.*stride);
    index = next;
  }
  return offset;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_FLAT_OFFSET_H_
