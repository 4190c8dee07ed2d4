// How tile_ragged stores its tile of elements of 2 bytes and more. Included by .cu files.
//
// Every out row begins its part of the tile at a sector (sector_piece.h). A thread gathers the 16
// bytes of one vector from one row of the tile for each element.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_STORES_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_STORES_H_

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/ragged_chunks.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/vectors.h"

namespace stridewise::ragged {

// Keeps a value that does not change in a register. nvcc computes it anew in each round of a loop
// to save registers.
__device__ inline int Hoisted(int value) {
#ifndef STRIDEWISE_HOST_EXECUTOR
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Stores the tile of elements of 2 bytes and more. A warp stores 128 bytes of each of four out rows
// at a time: of 2 bytes a line, so that L2 gets a request for it and not two. A part of whole lines
// and one sector then lies in one line more wherever it begins. On an H200 nine matrices took 0.8 %
// less so than from the part's first sector on. Larger elements gain nothing, and bytes lose, since
// the columns of a thread would differ in where lines begin.
template <typename Shape, bool kInside, typename T>
__device__ inline void StoreRows(const Matrix<T>& out, const Part& part, const Cut& cut,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kWarps = Shape::kThreads / 32;
  constexpr bool kFromLines = kSize == 2;
  const int lane = threadIdx.x % kLanes;
  const int column = threadIdx.x % 32 / kLanes;
  const BankOrder order = AvoidBankConflicts<T>(cut.pitch, out.ld, lane, column);
  const GatherOffsets<T> offsets(cut.pitch, order.rotation);
  T* const corner = out.data + part.first_col * out.ld + part.first_row;
  // The columns of a warp are a stride apart: columns 0 to 3 of the tile, then 4 to 7; or 0, 2, 4,
  // 6, then 1, 3, 5, 7; and so on.
  const int low = Hoisted((1 << order.log2_stride) - 1);
  const int first_col = Hoisted(column << order.log2_stride);
  const int groups = (part.cols + kColumnsOfWarp * (low + 1) - 1) / kColumnsOfWarp & ~low;
  for (int four = threadIdx.x / 32; four < groups; four += kWarps) {
    const int col = first_col + (four & low) + (four & ~low) * kColumnsOfWarp;
    if (col >= part.cols) continue;
    const SectorPiece<T> piece(corner + col * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                               part.begin, part.end);
    const unsigned char* const from = tile + col * kSize;
    const int first = lane - (kFromLines ? piece.VectorsOfLineBefore() : 0);
#pragma unroll 2
    for (int vector = first; vector * kElements < cut.rows; vector += kLanes) {
      if (kFromLines && vector < 0) continue;
      const int y = piece.First(vector);
      if (kInside || piece.Fills(y)) {
        StoreVector(piece.At(y), Gather<T>(from + y * cut.pitch, offsets));
      }
    }
  }
  if constexpr (!kInside) {
    SectorPiece<T>::StoreEnds(
        part.cols, part.begin > 0, part.end < cut.rows_held, Shape::kThreads,
        [&](int col) {
          return SectorPiece<T>(corner + col * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                                part.begin, part.end);
        },
        [&](int y, int col) {
          return *reinterpret_cast<const T*>(tile + y * cut.pitch + col * kSize);
        });
  }
}

}  // namespace stridewise::ragged

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_RAGGED_STORES_H_
