// Loads the tile of permute_tile.cu and permute_flat.cu: rows, which are contiguous runs of `in`,
// by the 16-byte chunks that lie under them. Included by .cu files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_LOAD_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_LOAD_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/async_copy.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// A row of `in` in the tile.
struct InRow {
  intptr_t from;  // The chunk of 16 bytes in which it begins.
  int to;         // Where that chunk is in the tile, in bytes.
  int chunks;     // That lie under the row; 0 where the tensor has no such row.
};

// The rows of a tile.
struct InRows {
  const InRow* rows;
  int count;
  int chunks;  // The most that a row has.
  SmallDivisor by_chunks;
};

// Starts copies of the chunks under the rows. `begin` and `end` are the tensor's: of a chunk that
// crosses them, only the elements inside are copied. Inside: no chunk does.
template <typename T, bool kInside>
__device__ inline void LoadRows(const InRows& in, intptr_t begin, intptr_t end,
                                unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  const int chunks = in.count * in.chunks;
#pragma unroll 4
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
    const int row = in.by_chunks.Quotient(i);
    const int chunk = i - row * in.chunks;
    const InRow at = in.rows[row];
    if (chunk >= at.chunks) continue;
    const intptr_t from = at.from + chunk * kVectorBytes;
    unsigned char* const to = tile + at.to + chunk * kVectorBytes;
    if (kInside || (from >= begin && from + kVectorBytes <= end)) {
      CopyAsync16(to, reinterpret_cast<const void*>(from));
    } else if constexpr (!kInside) {
      for (int k = 0; k < kVectorBytes; k += kSize) {
        if (from + k < begin || from + k >= end) continue;
        *reinterpret_cast<T*>(to + k) = *reinterpret_cast<const T*>(from + k);
      }
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_LOAD_H_
