// The layout in shared memory of a chunk of a skinny matrix, for few_columns and few_rows. Included
// by .cu files.
//
// A skinny matrix has few columns or few rows. A chunk is `width` elements across, its short side,
// and length() elements along, its long side: of few columns it is a run of rows, of few rows a run
// of columns. In the memory of one of the two matrices, `in` or `out`, a chunk is one contiguous
// piece ("flat"), in which its short sides follow each other; in the other its long sides are
// strips. Both are moved 16 bytes a thread. On the flat side, neighbouring threads access
// neighbouring vectors; along a strip, each thread accesses kVectorElements elements that lie
// `width` apart, and its neighbour those of the next group of kVectorElements short sides. Groups
// are therefore an odd number of units apart, where a unit is a bank or a larger element: along
// strips there are no bank conflicts, whatever the width, and on the flat side there are at most
// two wavefronts for elements of up to 4 bytes and widths up to 16.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {

// Wider matrices are taken in panels of this width.
inline constexpr int kMaxSkinnyWidth = 32;

// The layout of a chunk of elements T.
template <typename T>
class SkinnyChunk {
 public:
  // The type that shared memory is accessed in: elements, but no smaller than a bank.
  using Unit = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  static constexpr int kUnits = kVectorBytes / static_cast<int>(sizeof(Unit));
  static constexpr int kPerUnit = static_cast<int>(sizeof(Unit) / sizeof(T));

  // Makes the layout for a matrix of `extent` columns or rows. Strips have strip_bytes, a power of
  // two and at most a vector a thread, or are shorter so that a chunk has at most max_bytes.
  // REQUIRES: extent > 0.
  SkinnyChunk(int64_t extent, int strip_bytes, int max_bytes)
      : width_(static_cast<int>(extent < kMaxSkinnyWidth ? extent : kMaxSkinnyWidth)),
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

  // Returns the vector that a thread takes of each of its strips.
  STRIDEWISE_HOST_DEVICE int VectorOfThread(int thread) const {
    return thread & ((1 << log2_vectors_) - 1);
  }
  // Returns the first strip of a thread; that of the number of threads is the step to the next.
  STRIDEWISE_HOST_DEVICE int StripOfThread(int thread) const { return thread >> log2_vectors_; }

  // Returns the offset of an element in shared memory, in elements.
  STRIDEWISE_HOST_DEVICE int OfElement(int along, int across) const {
    constexpr unsigned kGroup = kVectorElements<T>;
    const auto group = static_cast<unsigned>(along) / kGroup;
    const auto rest = static_cast<unsigned>(along) % kGroup;
    return static_cast<int>(group) * pitch_ * kPerUnit + static_cast<int>(rest) * width_ + across;
  }
  // Returns the offset of vector v of the flat side in shared memory, in units.
  STRIDEWISE_HOST_DEVICE int OfFlatVector(int v) const {
    return v * kUnits + by_width_.Quotient(v) * (pitch_ - width_ * kUnits);
  }

  // Calls fn(k, offset) for the elements k of a vector along a strip; `first` is the coordinate
  // along the strip of its first element.
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

  // Returns the coordinate along of element i of the flat side; the remainder is that across.
  STRIDEWISE_HOST_DEVICE int AlongOfFlat(int i) const { return by_width_.Quotient(i); }

 private:
  int width_;
  int log2_vectors_;  // Logarithm of the number of vectors of a strip.
  int pitch_;         // Units from one group to the next, odd.
  SmallDivisor by_width_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_SKINNY_CHUNK_H_
