// How tile_ragged stores its tile of bytes. Included by .cu files.
//
// A vector has 16 rows of the tile, so that what is known of an out row is worth keeping: a thread
// stores the same vectors of columns that begin alike, and the same ends.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_BYTE_STORES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_BYTE_STORES_H_

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/ragged_chunks.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/vectors.h"

namespace stridewise::ragged {

// The columns that a thread stores vectors of: the first, and those that are kStep further. All of
// them begin alike modulo a sector, whatever the distance of out rows, so that the thread takes the
// same vectors of them.
template <typename Shape>
struct ColumnsOfThread {
  static constexpr int kStep = Shape::kThreads / 32 * kColumnsOfWarp;

  // The columns of a warp are a stride apart: columns 0 to 3 of the tile, then 4 to 7; or 0, 2, 4,
  // 6, then 1, 3, 5, 7; and so on.
  __device__ explicit ColumnsOfThread(const BankOrder& order) {
    const int column = threadIdx.x % 32 / kLanes;
    const int warp = threadIdx.x / 32;
    const int low = (1 << order.log2_stride) - 1;
    first = (column << order.log2_stride) + (warp & low) + (warp & ~low) * kColumnsOfWarp;
  }

  int first;
};

// Stores the vectors that lie inside the matrix, of bytes. A warp stores 128 bytes of each of four
// out rows at a time.
template <typename Shape, bool kInside, bool kRotates, typename T>
__device__ inline void StoreVectors(const Matrix<T>& out, T* corner, const Part& part,
                                    const Cut& cut, const BankOrder& order,
                                    const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kStep = ColumnsOfThread<Shape>::kStep;
  static_assert(kStep * kSize % kSectorBytes == 0, "whole sectors apart");
  const GatherOffsets<T> offsets(cut.pitch, kRotates ? order.rotation : 0);
  const ColumnsOfThread<Shape> columns(order);
  const SectorPiece<T> piece(corner + columns.first * static_cast<int64_t>(out.ld), cut.shift,
                             cut.rows, part.begin, part.end);
  for (int vector = threadIdx.x % kLanes; vector * kElements < cut.rows; vector += kLanes) {
    const int y = piece.First(vector);
    if (!kInside && !piece.Fills(y)) continue;
    T* to = piece.At(y);
    const unsigned char* from = tile + y * cut.pitch + columns.first * kSize;
#pragma unroll 2
    for (int col = columns.first; col < part.cols; col += kStep) {
      if constexpr (kRotates) {
        StoreVector(to, Gather<T>(from, offsets));
      } else {
        StoreVector(to, GatherInOrder<T>(from, cut.pitch));
      }
      to += kStep * out.ld;
      from += kStep * kSize;
    }
  }
}

// Stores the ends of out rows at the upper or at the lower edge of the matrix, a thread an element
// of columns that begin alike.
template <typename Shape, bool kLower, typename T>
__device__ inline void StoreEnds(const Matrix<T>& out, T* corner, const Part& part, const Cut& cut,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kAtOnce = Shape::kThreads / kElements;  // Columns.
  constexpr int kUnit = kSectorBytes / kSize;
  constexpr int kStep = kAtOnce % kUnit == 0 ? kAtOnce : kAtOnce * kUnit;
  const int end = (kLower ? kElements : 0) + static_cast<int>(threadIdx.x) % kElements;
#pragma unroll 1
  for (int first = threadIdx.x / kElements; first < kStep && first < part.cols; first += kAtOnce) {
    const SectorPiece<T> piece(corner + first * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                               part.begin, part.end);
    const int row = piece.End(end);
    if (row < 0) continue;
    T* to = piece.At(row);
    const unsigned char* from = tile + row * cut.pitch + first * kSize;
#pragma unroll 4
    for (int col = first; col < part.cols; col += kStep) {
      *to = *reinterpret_cast<const T*>(from);
      to += kStep * out.ld;
      from += kStep * kSize;
    }
  }
}

// Stores the tile of bytes. Larger elements are stored by StoreRows(), of which as many registers
// as this takes would cost a block: 0.84 of a copy instead of 0.90 at 28991 x 3806 of 2 bytes.
template <typename Shape, bool kInside, typename T>
__device__ inline void StoreBytes(const Matrix<T>& out, const Part& part, const Cut& cut,
                                  const unsigned char* tile) {
  const BankOrder order =
      AvoidBankConflicts<T>(cut.pitch, out.ld, threadIdx.x % kLanes, threadIdx.x % 32 / kLanes);
  T* const corner = out.data + part.first_col * out.ld + part.first_row;
  if (order.rotates) {
    StoreVectors<Shape, kInside, true>(out, corner, part, cut, order, tile);
  } else {
    StoreVectors<Shape, kInside, false>(out, corner, part, cut, order, tile);
  }
  if constexpr (!kInside) {
    if (part.begin > 0) StoreEnds<Shape, false>(out, corner, part, cut, tile);
    if (part.end < cut.rows_held) StoreEnds<Shape, true>(out, corner, part, cut, tile);
  }
}

}  // namespace stridewise::ragged

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_BYTE_STORES_H_
