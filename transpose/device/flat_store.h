// Stores the tile of permute_flat.cu: gathers vectors of out rows from rows of shared memory that
// lie anywhere. Included by .cu files.
//
// Each vector needs the places of its 16 / size elements, which begin at any row. The table of
// places has as many copies as elements fit 16 bytes of it, each shifted by one row more, so that
// one of them has those places in whole words: two loads instead of sixteen for a vector of bytes.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_FLAT_STORE_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_FLAT_STORE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/pieces.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Where rows begin in the tile, in bytes.
template <typename T>
class RowPlaces {
 public:
  static constexpr int kElements = kVectorElements<T>;
  static constexpr int kCopies = kElements < 8 ? kElements : 8;

  // REQUIRES: `table` is at a multiple of 16 and has kCopies * rows_held entries; rows_held is a
  // multiple of 8.
  __device__ RowPlaces(uint16_t* table, int rows_held) : table_(table), rows_held_(rows_held) {}

  __device__ void Set(int row, int place) const {
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) {
      if (row >= copy) table_[copy * rows_held_ + row - copy] = static_cast<uint16_t>(place);
    }
  }
  __device__ int operator[](int row) const { return table_[row]; }

  // Sets place[k] to that of row `first` + k.
  __device__ void OfVector(int first, int (&place)[kElements]) const {
    const int copy = first & (kCopies - 1);
    const uint16_t* const from = table_ + copy * (rows_held_ - 1) + first;
    uint32_t words[(kElements + 1) / 2];
    if constexpr (kElements >= 8) {
#pragma unroll
      for (int i = 0; i < kElements / 8; ++i) {
        const Vector vector = reinterpret_cast<const Vector*>(from)[i];
        words[4 * i] = vector.x;
        words[4 * i + 1] = vector.y;
        words[4 * i + 2] = vector.z;
        words[4 * i + 3] = vector.w;
      }
    } else if constexpr (kElements == 4) {
      const uint2 pair = *reinterpret_cast<const uint2*>(from);
      words[0] = pair.x;
      words[1] = pair.y;
    } else if constexpr (kElements == 2) {
      words[0] = *reinterpret_cast<const uint32_t*>(from);
    } else {
      words[0] = *from;
    }
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      place[k] = static_cast<int>(k % 2 == 0 ? words[k / 2] & 0xffffu : words[k / 2] >> 16);
    }
  }

 private:
  uint16_t* table_;
  int rows_held_;
};

// The part of an out row that a tile stores: elements from begin to end, counted from the first
// that the tile holds, which is at `address`.
template <typename T>
struct RowPart {
  intptr_t address;
  int begin;
  int end;

  // Returns the address of the sector in which the part begins.
  __device__ intptr_t FirstSector() const {
    return (address + begin * static_cast<int>(sizeof(T))) & -kSectorBytes;
  }
  // Returns the element at this address.
  __device__ int At(intptr_t to) const {
    return static_cast<int>(to - address) / static_cast<int>(sizeof(T));
  }
};

// Stores the vectors that the parts of rows fill: of each at most `vectors`, from the sector in
// which it begins. part_of(column) is the part of an out row. A warp stores 128 bytes of each of
// four rows, whose columns are 2^log2_apart apart. REQUIRES: blockDim.x is a multiple of 32 times
// that.
template <typename T, typename PartOf>
__device__ inline void StoreWholeVectors(const PartOf& part_of, int columns, int vectors,
                                         int log2_apart, const RowPlaces<T>& places,
                                         const unsigned char* tile) {
  constexpr int kElements = kVectorElements<T>;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const auto of_block = static_cast<int>(threadIdx.x / kLanes);
  // The column's number among those of 1 << log2_apart warps.
  const int of_warps = of_block & ((kColumnsOfWarp << log2_apart) - 1);
  const int first_column =
      of_block - of_warps + (of_warps % kColumnsOfWarp << log2_apart) + of_warps / kColumnsOfWarp;
  // Columns of a thread are a multiple of 32 apart, and begin alike where they are of one
  // dimension: of bytes the places are kept, 16 of 32 loads (an H200: 12x3856x3103:210 0.83 of a
  // copy, and 0.70).
  constexpr bool kKeeps = kElements == 16;
  constexpr int kAtOnce = kKeeps ? 1 : 2;
  for (int vector = lane; vector - lane < vectors; vector += kLanes) {
    int place[kElements];
    int placed = 0;
    bool has_places = false;
#pragma unroll kAtOnce
    for (int column = first_column; column < columns; column += blockDim.x / kLanes) {
      const RowPart<T> part = part_of(column);
      const intptr_t to = part.FirstSector() + vector * kVectorBytes;
      const int first = part.At(to);
      if (first < part.begin || first + kElements > part.end) continue;
      if (!kKeeps || !has_places || first != placed) places.OfVector(first, place);
      placed = first;
      has_places = true;
      StoreVector(reinterpret_cast<void*>(to),
                  GatherAt<T>(tile + column * static_cast<int>(sizeof(T)), place));
    }
  }
}

// Stores what parts of rows have of the vectors in which they begin and end, a thread an end.
template <typename T, typename PartOf>
__device__ inline void StoreEnds(const PartOf& part_of, int columns, const RowPlaces<T>& places,
                                 const unsigned char* tile) {
  constexpr int kElements = kVectorElements<T>;
  for (int i = threadIdx.x; i < 2 * columns; i += blockDim.x) {
    const RowPart<T> part = part_of(i / 2);
    if (part.begin >= part.end) continue;
    const bool tail = i % 2 == 1;
    const intptr_t head_at = part.address + part.begin * static_cast<int>(sizeof(T));
    const intptr_t tail_at = part.address + part.end * static_cast<int>(sizeof(T));
    const intptr_t to = (tail ? tail_at : head_at) & -kVectorBytes;
    const int first = part.At(to);
    const InVector has = {part.begin > first ? part.begin - first : 0,
                          part.end - first < kElements ? part.end - first : kElements};
    // A vector that has both ends is the head's.
    if (tail ? has.begin > 0 || has.end == 0 : has.begin == 0) continue;
    const unsigned char* const column = tile + i / 2 * static_cast<int>(sizeof(T));
    if (has.begin > 0 && has.end < kElements) {
      for (int k = has.begin; k < has.end; ++k) {
        reinterpret_cast<T*>(to)[k] = *reinterpret_cast<const T*>(column + places[first + k]);
      }
      continue;
    }
    const Pieces<T> pieces(has);
    int place[kElements];
#pragma unroll
    for (int k = 0; k < kElements; ++k) place[k] = places[first + pieces.ElementOf(k)];
    pieces.Store(to, GatherAt<T>(column, place));
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_FLAT_STORE_H_
