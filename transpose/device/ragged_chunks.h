// The tile of tile_ragged in shared memory: the 16-byte chunks that lie under a row's part of it
// are copied as they are, including the bytes before and behind the part. Included by .cu files.
//
// The distance between two rows in shared memory is congruent modulo 16 to their distance in `in`,
// so that chunks remain whole chunks and element (r, c) of the tile lies at lead + r * pitch + c *
// size. A Shape has kThreads, at least as many as a row has chunks.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_CHUNKS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_CHUNKS_H_

#include <cstdint>

#include "transpose/device/async_copy.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/vectors.h"

namespace stridewise::ragged {

struct Cut : RaggedCut {
  int pitch;        // Bytes from row to row in shared memory.
  bool in_aligned;  // Whether all rows of `in` begin with a chunk.
};

struct Part : RaggedPart {
  int chunks;  // Chunks that lie under a row.
};

// Loads the chunks under the rows. A thread loads the same chunk of each of its rows, so that a
// chunk costs two additions and a mask. A chunk may have bytes of other rows, or between rows.
template <typename Shape, typename T>
__device__ inline void LoadRows(const T* corner, int64_t row_bytes, const Part& part, int pitch,
                                unsigned char* tile) {
  const int step = Shape::kThreads / part.chunks;  // Rows from one chunk to the next.
  const int row = static_cast<int>(threadIdx.x) / part.chunks;
  const int chunk = static_cast<int>(threadIdx.x) - row * part.chunks;
  if (row >= step) return;
  const int first = part.begin + row;
  const auto* from = reinterpret_cast<const unsigned char*>(corner) + first * row_bytes;
  int to =
      static_cast<int>(reinterpret_cast<intptr_t>(corner) & (kVectorBytes - 1)) + first * pitch;
  const int64_t from_step = step * row_bytes;
  const int to_step = step * pitch;
#pragma unroll 4
  for (int y = first; y < part.end; y += step) {
    const auto misaligned = static_cast<int>(reinterpret_cast<intptr_t>(from) & (kVectorBytes - 1));
    CopyAsync16(tile + (to & -kVectorBytes) + chunk * kVectorBytes,
                from - misaligned + chunk * kVectorBytes);
    from += from_step;
    to += to_step;
  }
}

// The addresses between which chunks may be copied whole.
struct Memory {
  intptr_t begin;
  intptr_t end;
};

// Returns those of all matrices of the grid: at its edges a matrix of a batch shares chunks with
// its neighbours, which may be copied as they are. REQUIRES: `in` is the grid's first matrix.
template <typename T>
__device__ inline Memory MemoryOf(const ConstMatrix<T>& in, const TileBatch& batch) {
  const auto begin = reinterpret_cast<intptr_t>(in.data);
  return {begin, begin + batch.span_in * static_cast<int64_t>(sizeof(T))};
}

// Does the same where a chunk may begin before the memory or end behind it: from there only
// elements are copied that lie inside.
template <typename Shape, typename T>
__device__ inline void LoadRowsAtEnds(const T* first, int64_t row_bytes, const Memory& memory,
                                      const Part& part, int pitch, unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  const auto corner = reinterpret_cast<intptr_t>(first);
  const auto [begin, end] = memory;
#pragma unroll 1
  for (int i = threadIdx.x; i < (part.end - part.begin) * part.chunks; i += Shape::kThreads) {
    const int y = part.begin + i / part.chunks;
    const int chunk = i % part.chunks * kVectorBytes;
    const intptr_t global = ((corner + y * row_bytes) & -kVectorBytes) + chunk;
    const int to = static_cast<int>(corner & (kVectorBytes - 1)) + y * pitch;
    unsigned char* const shared = tile + (to & -kVectorBytes) + chunk;
    if (global >= begin && global + kVectorBytes <= end) {
      CopyAsync16(shared, reinterpret_cast<const void*>(global));
      continue;
    }
#pragma unroll 1
    for (int k = 0; k < kVectorBytes; k += kSize) {
      if (global + k < begin || global + k >= end) continue;
      *reinterpret_cast<T*>(shared + k) = *reinterpret_cast<const T*>(global + k);
    }
  }
}

// Loads the part and waits for it. Returns where its first element is in shared memory.
template <typename Shape, typename T>
__device__ inline const unsigned char* LoadPart(const ConstMatrix<T>& in, const Memory& memory,
                                                const Cut& cut, Part* part, unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  part->chunks = cut.in_aligned ? (part->cols * kSize + kVectorBytes - 1) / kVectorBytes
                                : (part->cols * kSize + 2 * kVectorBytes - kSize) / kVectorBytes;
  const int64_t row_bytes = static_cast<int64_t>(in.ld) * kSize;
  const auto* corner = in.data + part->first_row * in.ld + part->first_col;
  const int lead = static_cast<int>(reinterpret_cast<intptr_t>(corner) & (kVectorBytes - 1));
  // All chunks lie inside if the first of the first row and the last of the last row do.
  const auto from = reinterpret_cast<intptr_t>(corner);
  const bool inside =
      ((from + part->begin * row_bytes) & -kVectorBytes) >= memory.begin &&
      ((from + (part->end - 1) * row_bytes) & -kVectorBytes) + part->chunks * kVectorBytes <=
          memory.end;
  if (inside) {
    LoadRows<Shape>(corner, row_bytes, *part, cut.pitch, tile);
  } else {
    LoadRowsAtEnds<Shape>(corner, row_bytes, memory, *part, cut.pitch, tile);
  }
  WaitForCopies();
  __syncthreads();
  return tile + lead;
}

}  // namespace stridewise::ragged

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_CHUNKS_H_
