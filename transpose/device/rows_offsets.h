// Where an element of permute_rows.cu or a word of permute_interleave.cu is. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_ROWS_OFFSETS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_ROWS_OFFSETS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/permute_rows_plan.h"

namespace stridewise {

// Where an element is, in bytes from the first.
struct RowsOffsets {
  int64_t in;
  int64_t out;
};

__device__ inline RowsOffsets OffsetsOf(const PermuteRowsPlan& plan, uint32_t element) {
  RowsOffsets offsets = {0, 0};
#pragma unroll
  for (int i = 0; i < kMaxPermuteRank; ++i) {
    if (i == plan.digits) break;
    const RowsDigit& digit = plan.digit[i];
    const bool last = i + 1 == plan.digits;
    const uint32_t next = last ? 0 : digit.by_count.Quotient(element);
    const uint32_t index = element - next * digit.count;
    offsets.in += index * digit.stride_in;
    offsets.out += index * digit.stride_out;
    element = next;
  }
  return offsets;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_ROWS_OFFSETS_H_
