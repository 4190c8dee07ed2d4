// Stores the vectors of a contiguous piece of `out` whose columns follow each other without gaps,
// from a tile in shared memory that has all rows. Included by .cu files.
//
// A vector begins in any row, and goes on with the next column behind the last. Vectors that are a
// number of rows apart, of even vectors, begin in the same row: a thread takes several of those, so
// that where their elements are is computed once.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_FLAT_VECTORS_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_FLAT_VECTORS_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "transpose/device/gather.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Which vectors a thread takes. A warp stores 128 bytes at each of four places, which are a number
// of columns apart; the places of the vectors behind are four times as far, and so on for a period.
struct FlatTurns {
  int period = 1;    // Vectors from one to the next that begins in the same row, an even number.
  int group = 1;     // Vectors from one of a warp's places to the next.
  int of_place = 1;  // Vectors of a place in a period: some groups.
  int periods = 1;   // Of a tile.
  int of_warp = 1;   // Times that a warp stores, of all that a tile takes: first all periods of its
                     // vectors, then those of the next eight of each place.
  SmallDivisor by_period = SmallDivisor(1);
  SmallDivisor by_group = SmallDivisor(1);
  SmallDivisor by_periods = SmallDivisor(1);
};

// Where the elements of a vector are in shared memory.
template <typename T, bool kRotates>
class WrappedPlaces {
 public:
  static constexpr int kElements = kVectorElements<T>;

  // The vector's first element is at `first`; rows are `pitch` bytes apart, and elements from
  // number `wrap` on are in the next column, `jump` bytes from where rows behind the last would be.
  // The word that is loaded first is number `rotation`.
  __device__ WrappedPlaces(SharedAddress first, int pitch, int wrap, int jump, int rotation)
      : rotation_(rotation) {
    constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
    const SharedAddress behind = first + jump;
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const int skipped = kInWord * (kRotates ? (w + rotation) & 3 : w);
#pragma unroll
      for (int k = 0; k < kInWord; ++k) {
        place_[w * kInWord + k] = (skipped + k < wrap ? first : behind) + (skipped + k) * pitch;
      }
    }
  }

  // Returns the vector that is kFurther bytes from the first.
  template <int kFurther>
  __device__ Vector At() const {
    uint32_t element[kElements];
#pragma unroll
    for (int k = 0; k < kElements; ++k) element[k] = LoadShared<T>(place_[k] + kFurther);
    if constexpr (sizeof(T) == 4) {
      return make_uint4(element[0], element[1], element[2], element[3]);
    } else {
      constexpr int kInWord = 4 / static_cast<int>(sizeof(T));
      uint32_t word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) word[w] = WordOf<T>(element + w * kInWord);
      if constexpr (!kRotates) return make_uint4(word[0], word[1], word[2], word[3]);
      return RotatedBack(word, (rotation_ & 1) != 0, (rotation_ & 2) != 0);
    }
  }
  // Moves the first that many bytes further.
  __device__ void Advance(int bytes) {
#pragma unroll
    for (int k = 0; k < kElements; ++k) place_[k] += bytes;
  }

 private:
  SharedAddress place_[kElements];
  int rotation_;
};

// Stores `count` vectors, kFurther bytes apart in the tile and `apart` elements in `out`.
template <int kFurther, typename T, bool kRotates>
__device__ inline void StoreRun(T* to, int count, int apart, WrappedPlaces<T, kRotates>* places) {
#pragma unroll 1
  for (; count >= 2; count -= 2) {
    const Vector a = places->template At<0>();
    const Vector b = places->template At<kFurther>();
    places->Advance(2 * kFurther);
    StoreVector(to, a);
    StoreVector(to + apart, b);
    to += 2 * apart;
  }
  if (count > 0) StoreVector(to, places->template At<0>());
}

// Stores `vectors` vectors of the piece, from element `first` on.
template <int kThreads, bool kRotates, typename T>
__device__ inline void StoreFlatVectors(T* piece, int first, int vectors, int rows,
                                        const SmallDivisor& by_rows, int pitch,
                                        const FlatTurns& turns, const BankOrder& order,
                                        const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int lane = threadIdx.x % kLanes;
  const int jump = kSize - rows * pitch;
  const int further = turns.period * kElements / rows * kSize;  // Bytes, of a period.
  const int apart = turns.period * kElements;
  int at = static_cast<int>(threadIdx.x) / 32 * turns.of_warp;
  const int last = at + turns.of_warp;
  while (at < last) {
    const int octet = turns.by_periods.Quotient(at);
    const int k = at - octet * turns.periods;
    const int more = last - at < turns.periods - k ? last - at : turns.periods - k;
    at += more;
    const int of_place = octet * kLanes + lane;
    if (of_place >= turns.of_place) continue;
    const int set = turns.by_group.Quotient(of_place);
    const int start =
        (3 * set + static_cast<int>(threadIdx.x) % 32 / kLanes) * turns.group + of_place;
    if (start >= turns.period || start >= vectors) continue;
    const int left = turns.by_period.Quotient(vectors - start + turns.period - 1);
    const int end = left < k + more ? left : k + more;
    if (k >= end) continue;
    const int element = first + start * kElements;
    const int col = by_rows.Quotient(element);
    const int row = element - col * rows;
    WrappedPlaces<T, kRotates> places(
        SharedAddressOf(tile) + row * pitch + col * kSize + k * further, pitch, rows - row, jump,
        order.rotation);
    T* const to = piece + element + k * apart;
    if (further == kVectorBytes) {
      StoreRun<kVectorBytes>(to, end - k, apart, &places);
    } else {
      StoreRun<2 * kVectorBytes>(to, end - k, apart, &places);
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_FLAT_VECTORS_H_
