// Stores the tile of permute_tile.cu as rows of `out`. Included by .cu files.
//
// Each out row begins its part of the tile at its own address. Rows whose addresses are the same
// modulo 32, a sector, are cut into vectors alike: a thread finds out once where the elements of a
// vector are in the tile, and then takes this vector of all rows of a list (PermutePlan). What
// remains at the ends of rows, parts of vectors, follows in words of 4 bytes and elements.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_STORE_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_STORE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/permute_tables.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_plan.h"

namespace stridewise {

// The elements of an out row that a tile stores.
struct Range {
  int begin;
  int end;
};

// Returns the first element of an out row that lies at a sector.
template <typename T>
__device__ inline int AtSector(intptr_t row) {
  return (-static_cast<int>(row) & (kSectorBytes - 1)) / static_cast<int>(sizeof(T));
}

template <typename T>
__device__ inline Range StoredRange(const PermutePlan& plan, const TilePart& part, int run_held,
                                    intptr_t row) {
  if (!plan.out_shifts) return {0, run_held};
  const TileDimension& cut = plan.dims[plan.out_cut];
  Range range = {part.left[plan.out_cut] == cut.extent ? 0 : AtSector<T>(row), run_held};
  if (part.left[plan.out_cut] > cut.tile) {
    const int next = cut.tile * plan.out_cut_below;
    const int end = next + AtSector<T>(row + next * static_cast<int>(sizeof(T)));
    range.end = end < run_held ? end : run_held;
  }
  return range;
}

// Where the elements of an out run are in the tile, in bytes from the first: computed where the run
// has one dimension, or kTogether = 0, and otherwise in a table, from which as many of elements
// that begin at a word of `out` are loaded at a time.
template <int kTogether>
struct RunPositions {
  const uint16_t* table;
  int pitch;

  __device__ int operator[](int element) const {
    return kTogether > 0 ? table[element] : element * pitch;
  }
  // Sets to[k] to where element first + k is, for each k below kCount.
  template <int kCount>
  __device__ void Get(int first, int* to) const {
    if constexpr (kTogether == 4 && kCount == 4) {
      const uint2 pairs = *reinterpret_cast<const uint2*>(table + first);
      to[0] = static_cast<int>(pairs.x & 0xffffu);
      to[1] = static_cast<int>(pairs.x >> 16);
      to[2] = static_cast<int>(pairs.y & 0xffffu);
      to[3] = static_cast<int>(pairs.y >> 16);
    } else if constexpr (kTogether == 2 && kCount == 2) {
      const uint32_t pair = *reinterpret_cast<const uint32_t*>(table + first);
      to[0] = static_cast<int>(pair & 0xffffu);
      to[1] = static_cast<int>(pair >> 16);
    } else {
#pragma unroll
      for (int k = 0; k < kCount; ++k) to[k] = (*this)[first + k];
    }
  }
};

// Stores the vectors that rows fill. Neighbouring threads, as many as the plan says, take
// neighbouring vectors of the same rows.
template <typename T, int kTogether>
__device__ inline void StoreWholeVectors(const PermutePlan& plan, const TilePart& part,
                                         const TileTables& tables, intptr_t corner, int run_held,
                                         const RunPositions<kTogether>& positions,
                                         const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int classes = kSectorBytes >> plan.log2_class_bytes;
  const int rotation = kSize < 4 ? RotationOf(plan, static_cast<int>(threadIdx.x)) : 0;
  const int items = plan.out_groups << plan.log2_lists << plan.log2_neighbours;
  for (int i = threadIdx.x; i < items; i += blockDim.x) {
    const auto [list, vector] = OutItemOf(plan, i);
    // The address of the list's rows, modulo 32.
    const int phase =
        (static_cast<int>(corner) + ((list & (classes - 1)) << plan.log2_class_bytes)) &
        (kSectorBytes - 1);
    const Range range = StoredRange<T>(plan, part, run_held, phase);
    const int to = ((phase + range.begin * kSize) & -kVectorBytes) + vector * kVectorBytes - phase;
    const int element = to / kSize;
    if (element < range.begin || element + kElements > range.end) continue;
    const RotatedElements<T> elements(positions, element, rotation);
    for (int row = tables.first_of_list[list]; row != kNoRow;) {
      const OutRow at = tables.out[row];
      StoreVector(reinterpret_cast<void*>(corner + at.offset + to), elements.Of(tile + at.shared));
      row = at.next;
    }
  }
}

// Stores what rows have of a vector where they begin and where they end, a thread a word: each
// store costs the same, whatever its size.
template <typename T, int kTogether>
__device__ inline void StoreEnds(const PermutePlan& plan, const TilePart& part,
                                 const TileTables& tables, intptr_t corner, int run_held,
                                 const RunPositions<kTogether>& positions,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kInWord = kSize < 4 ? 4 / kSize : 1;
  constexpr int kWords = kVectorElements<T> / kInWord;
  for (int i = threadIdx.x; i < plan.out_rows_held * 2 * kWords; i += blockDim.x) {
    const OutRow row = tables.out[i / (2 * kWords)];
    if (row.shared == kNoRow) continue;
    const intptr_t run = corner + row.offset;
    const Range range = StoredRange<T>(plan, part, run_held, run);
    const intptr_t begin = run + range.begin * kSize;
    const intptr_t end = run + range.end * kSize;
    const bool has_head = begin % kVectorBytes != 0;
    const bool has_tail =
        end % kVectorBytes != 0 && !(has_head && (begin & -kVectorBytes) == (end & -kVectorBytes));
    const bool tail = i / kWords % 2 == 1;
    if (!(tail ? has_tail : has_head)) continue;
    const intptr_t to = ((tail ? end : begin) & -kVectorBytes) + i % kWords * (kInWord * kSize);
    const int first = static_cast<int>(to - run) / kSize;
    const unsigned char* const from = tile + row.shared;
    if (kInWord > 1 && first >= range.begin && first + kInWord <= range.end) {
      uint32_t word = 0;
#pragma unroll
      for (int k = 0; k < kInWord; ++k) {
        const auto* const at = reinterpret_cast<const T*>(from + positions[first + k]);
        word |= static_cast<uint32_t>(*at) << (8 * kSize * k % 32);
      }
      *reinterpret_cast<uint32_t*>(to) = word;
      continue;
    }
#pragma unroll
    for (int k = 0; k < kInWord; ++k) {
      if (first + k < range.begin || first + k >= range.end) continue;
      reinterpret_cast<T*>(to)[k] = *reinterpret_cast<const T*>(from + positions[first + k]);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_PERMUTE_STORE_H_
