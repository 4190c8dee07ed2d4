// A tile of tile_bytes.cu and weave_rows.cu, and how it is loaded and stored. Included by .cu
// files.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_BYTE_TILE_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_BYTE_TILE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/async_copy.h"
#include "transpose/device/byte_squares.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/strip.h"
#include "transpose/device/vectors.h"

namespace stridewise {

struct ByteCut : RaggedCut {
  int matrices = 1;   // Of a block.
  int in_pitch = 0;   // Bytes from row to row in shared memory, of `in`
  int out_pitch = 0;  // and of `out`.
  int in_bytes = 0;   // Of shared memory for rows of `in`; those of `out` follow.
  int out_bytes = 0;
  int chunks = 0;  // The most vectors that lie under a row of the tile.
  SmallDivisor by_chunks = SmallDivisor(1);
  SquareItems items;
};

// The memory between two addresses.
struct Span {
  intptr_t begin;
  intptr_t end;
};

// Loads of the vector at `from` what the matrices have of it. The rest becomes 0.
template <typename T>
__device__ inline void LoadPartOfVector(intptr_t from, const Span& matrices, unsigned char* to) {
#pragma unroll 1
  for (int k = 0; k < kVectorBytes; k += static_cast<int>(sizeof(T))) {
    const bool has = from + k >= matrices.begin && from + k < matrices.end;
    *reinterpret_cast<T*>(to + k) = has ? *reinterpret_cast<const T*>(from + k) : T{0};
  }
}

// Loads vectors 0 to `count`: vector i is at place(i).from, and goes to place(i).to unless that is
// null. `inside`: the matrices have all of them.
struct VectorPlace {
  intptr_t from;
  unsigned char* to;
};
template <typename T, typename PlaceOf>
__device__ inline void LoadVectors(int count, bool inside, const Span& matrices, PlaceOf place_of) {
  if (inside) {
#pragma unroll 4
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const VectorPlace place = place_of(i);
      if (place.to != nullptr) CopyAsync16(place.to, reinterpret_cast<const void*>(place.from));
    }
  } else {
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const VectorPlace place = place_of(i);
      if (place.to == nullptr) continue;
      if (place.from >= matrices.begin && place.from + kVectorBytes <= matrices.end) {
        CopyAsync16(place.to, reinterpret_cast<const void*>(place.from));
      } else {
        LoadPartOfVector<T>(place.from, matrices, place.to);
      }
    }
  }
  WaitForCopies();
  __syncthreads();
}

// Loads what is one piece, which begins in shared memory where it begins modulo 16. Returns the
// offset of its first byte.
template <typename T>
__device__ inline int LoadPiece(const Span& piece, const Span& matrices, unsigned char* tile) {
  const intptr_t from = piece.begin & -kVectorBytes;
  const auto vectors = static_cast<int>((piece.end - from + kVectorBytes - 1) / kVectorBytes);
  const bool inside = from >= matrices.begin && from + vectors * kVectorBytes <= matrices.end;
  LoadVectors<T>(vectors, inside, matrices, [&](int v) {
    return VectorPlace{from + v * kVectorBytes, tile + v * kVectorBytes};
  });
  return static_cast<int>(piece.begin - from);
}

// Loads the part of each row, which lies in shared memory where it lies modulo 16. Returns the
// offset of the tile's first element.
template <typename T>
__device__ inline int LoadRowsOfPart(const T* corner, int64_t row_bytes, const RaggedPart& part,
                                     const ByteCut& cut, const Span& matrix, unsigned char* tile) {
  const auto first = reinterpret_cast<intptr_t>(corner);
  const auto lead = static_cast<int>(first & (kVectorBytes - 1));
  const int bytes = part.cols * static_cast<int>(sizeof(T));
  const intptr_t upper = first + part.begin * row_bytes;
  const intptr_t lower = first + (part.end - 1) * row_bytes;
  const bool inside = (upper & -kVectorBytes) >= matrix.begin &&
                      ((lower + bytes + kVectorBytes - 1) & -kVectorBytes) <= matrix.end;
  const int step = cut.by_chunks.Quotient(static_cast<int>(blockDim.x));  // Rows at a time.
  if (!inside || step == 0) {
    LoadVectors<T>((part.end - part.begin) * cut.chunks, inside, matrix, [&](int i) {
      const int y = cut.by_chunks.Quotient(i);
      const int chunk = (i - y * cut.chunks) * kVectorBytes;
      const intptr_t row = upper + y * row_bytes;
      const intptr_t from = (row & -kVectorBytes) + chunk;
      const int to = lead + (part.begin + y) * cut.in_pitch;
      return VectorPlace{from, from < row + bytes ? tile + (to & -kVectorBytes) + chunk : nullptr};
    });
    return lead;
  }
  // A thread loads the same chunk of each of its rows: 14 instructions for a chunk instead of 54.
  const int first_row = cut.by_chunks.Quotient(static_cast<int>(threadIdx.x));
  const int chunk = (static_cast<int>(threadIdx.x) - first_row * cut.chunks) * kVectorBytes;
  if (first_row < step) {
    intptr_t row = upper + first_row * row_bytes;
    int to = lead + (part.begin + first_row) * cut.in_pitch;
#pragma unroll 4
    for (int y = part.begin + first_row; y < part.end; y += step) {
      const auto misaligned = static_cast<int>(row & (kVectorBytes - 1));
      if (chunk < misaligned + bytes) {
        CopyAsync16(tile + (to & -kVectorBytes) + chunk,
                    reinterpret_cast<const void*>(row - misaligned + chunk));
      }
      row += step * row_bytes;
      to += step * cut.in_pitch;
    }
  }
  WaitForCopies();
  __syncthreads();
  return lead;
}

// Stores `count` elements that are one piece on both sides. SpreadOffset() has the flag and log2.
template <typename T, bool kSpread>
__device__ inline void StorePiece(T* to, int count, const unsigned char* shared, int log2) {
  const Strip<T> strip(to, count);
  const int vectors = (strip.lead() + count) / kVectorElements<T>;
#pragma unroll 4
  for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
    if (v == 0 && strip.lead() != 0) continue;  // An end.
    const int offset = SpreadOffset<kSpread>(v * kVectorBytes, log2);
    StoreVector(&strip.At(v), *reinterpret_cast<const Vector*>(shared + offset));
  }
  if (threadIdx.x >= Strip<T>::kEnds) return;
  const int index = strip.End(threadIdx.x);
  if (index < 0) return;
  const int offset = (strip.lead() + index) * static_cast<int>(sizeof(T));
  strip[index] = *reinterpret_cast<const T*>(shared + SpreadOffset<kSpread>(offset, log2));
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_BYTE_TILE_H_
