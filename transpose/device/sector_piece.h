// The part of an out row that a tile writes, where out rows start anywhere. Included by .cu files.
//
// A tile holds `shift` rows more than it writes. Each out row begins its part of the tile at the
// first of them whose address is a multiple of 32, a sector, so that no sector is written by two
// blocks. At the upper and lower edge of the matrix, parts begin and end between two vectors, and
// what remains there is moved element by element, best by that many threads at once.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_SECTOR_PIECE_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_SECTOR_PIECE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/vectors.h"

namespace stridewise {

template <typename T>
class SectorPiece {
 public:
  static constexpr int kElements = kVectorElements<T>;
  static constexpr int kEnds = 2 * kElements;  // The most elements that the two ends have.

  // `data` is the address of the tile's row 0, which need not be in the matrix. The tile writes
  // `count` rows, of which the matrix has those from begin to end. REQUIRES: begin <= shift.
  __device__ SectorPiece(T* data, int shift, int count, int begin, int end)
      : data_(data), begin_(begin) {
    const auto address = static_cast<int>(reinterpret_cast<intptr_t>(data));
    start_ = shift == 0 ? 0 : (-address & (kSectorBytes - 1)) / static_cast<int>(sizeof(T));
    end_ = end < start_ + count ? end : start_ + count;
  }

  // Returns the tile's row that is the first of a vector.
  __device__ int First(int vector) const { return start_ + vector * kElements; }
  // Returns the vectors from the beginning of a cache line to the first vector.
  __device__ int VectorsOfLineBefore() const {
    constexpr int kLine = 128;
    return static_cast<int>(reinterpret_cast<intptr_t>(At(start_)) & (kLine - 1)) / kVectorBytes;
  }
  // Returns whether the tile writes all of the vector that begins with row `first`.
  __device__ bool Fills(int first) const { return first >= begin_ && first + kElements <= end_; }

  // Returns the tile's row that is the i-th of kEnds at the ends, or -1 if the ends have fewer.
  __device__ int End(int i) const {
    const int behind = begin_ > start_ ? (begin_ - start_ + kElements - 1) / kElements : 0;
    const int head_end = start_ + behind * kElements;  // The first vector that has all its rows.
    const int tail = end_ > head_end ? end_ - (end_ - head_end) % kElements : head_end;
    const int row = i < kElements ? begin_ + i : tail + i - kElements;
    const bool exists = i >= kElements || (behind > 0 && row < head_end);
    return exists && row < end_ ? row : -1;
  }
  __device__ T* At(int row) const { return data_ + row; }

  // Stores the ends of the out rows of `cols` columns, a thread an element: of_column(col) is the
  // column's piece, and load(row, col) an element. A tile at the upper edge of the matrix, which
  // begins with row `begin` > 0, has ends there, and one at the lower edge, which has fewer rows
  // than it holds, there.
  template <typename OfColumn, typename Load>
  __device__ static void StoreEnds(int cols, bool upper, bool lower, int threads,
                                   OfColumn of_column, Load load) {
    const bool both = upper && lower;
    const int first = upper ? 0 : kElements;
    for (int i = threadIdx.x; i < cols * (both ? kEnds : kElements); i += threads) {
      const int col = both ? i / kEnds : i / kElements;
      const SectorPiece piece = of_column(col);
      const int row = piece.End(first + i % (both ? kEnds : kElements));
      if (row >= 0) *piece.At(row) = load(row, col);
    }
  }

 private:
  T* data_;
  int begin_;
  int start_;  // The row at which the first vector begins.
  int end_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_SECTOR_PIECE_H_
