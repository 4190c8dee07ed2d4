// A chunk of a thin matrix in shared memory: how few_columns and few_rows lay it out. For .cu
// files.
//
// The chunk is `width` elements wide and length() long: of few columns, a run of rows; of few rows,
// a run of columns. The thin sides lie one after the other, as in the memory of the side that is
// one contiguous piece ("flat"); the long sides are strips of the other. Both are moved by 16 bytes
// a thread. Flat, neighbouring threads want neighbouring vectors; along a strip each thread wants
// kVectorElements elements that lie `width` apart, and its neighbour those of the next group of
// kVectorElements thin sides. So groups are an odd number of units apart, a unit being a bank or a
// larger element: along strips there are no bank conflicts, whatever the width; flat there are at
// most two wavefronts for elements of up to 4 bytes and widths up to 16.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_THIN_CHUNK_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_THIN_CHUNK_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Wider matrices are taken in panels of so many.
inline constexpr int kMaxThinWidth = 32;

template <typename T>
class ThinChunk {
 public:
  // What vectors are cut into: elements, but no less than a bank.
  using Unit = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  static constexpr int kUnits = kVectorBytes / static_cast<int>(sizeof(Unit));
  static constexpr int kPerUnit = static_cast<int>(sizeof(Unit) / sizeof(T));

  // For a matrix `extent` wide. Strips of strip_bytes, a power of two and at most a vector a
  // thread, or as much shorter as max_bytes ask for. REQUIRES: extent > 0.
  ThinChunk(int64_t extent, int strip_bytes, int max_bytes)
      : width_(static_cast<int>(extent < kMaxThinWidth ? extent : kMaxThinWidth)),
        log2_vectors_(0),
        pitch_(width_ * kUnits | 1),
        by_width_(width_) {
    while (32 << log2_vectors_ <= strip_bytes && (32 << log2_vectors_) * width_ <= max_bytes) {
      ++log2_vectors_;
    }
  }

  STRIDEWISE_HOST_DEVICE int width() const { return width_; }
  STRIDEWISE_HOST_DEVICE int length() const { return kVectorElements<T> << log2_vectors_; }
  size_t shared_bytes() const { return (sizeof(Unit) * pitch_) << log2_vectors_; }

  // Which vector of which strip a thread starts with, and how many strips it goes on by.
  STRIDEWISE_HOST_DEVICE int VectorOfThread(int thread) const {
    return thread & ((1 << log2_vectors_) - 1);
  }
  STRIDEWISE_HOST_DEVICE int StripOfThread(int thread) const { return thread >> log2_vectors_; }

  // Offsets in shared memory: of an element, in elements, by its place along and across;
  STRIDEWISE_HOST_DEVICE int OfElement(int along, int across) const {
    constexpr unsigned kGroup = kVectorElements<T>;
    const auto group = static_cast<unsigned>(along) / kGroup;
    const auto rest = static_cast<unsigned>(along) % kGroup;
    return static_cast<int>(group) * pitch_ * kPerUnit + static_cast<int>(rest) * width_ + across;
  }
  // and of vector v of the flat side, in units.
  STRIDEWISE_HOST_DEVICE int OfFlatVector(int v) const {
    return v * kUnits + by_width_.Quotient(v) * (pitch_ - width_ * kUnits);
  }

  // Calls fn(k, offset) for the elements of a vector along a strip, `first` the place of the first.
  template <typename Fn>
  __device__ void ForVector(int first, int across, Fn fn) const {
    constexpr unsigned kGroup = kVectorElements<T>;
    const int next_group = static_cast<int>(kGroup - static_cast<unsigned>(first) % kGroup);
    const int gap = pitch_ * kPerUnit - kVectorElements<T> * width_;
    int offset = OfElement(first, across);
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
      fn(k, offset);
      offset += k + 1 == next_group ? width_ + gap : width_;
    }
  }

  // The place along of element i of the flat side; across it is the rest.
  STRIDEWISE_HOST_DEVICE int AlongOfFlat(int i) const { return by_width_.Quotient(i); }

 private:
  int width_;
  int log2_vectors_;  // Of a strip.
  int pitch_;         // Units from one group to the next, odd.
  SmallDivisor by_width_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_THIN_CHUNK_H_
