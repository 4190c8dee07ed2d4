// A run of elements in global memory that starts and ends anywhere, as vectors: for .cu files.
//
// Vectors start on multiples of 16 bytes, and vector 0 is the one that the strip starts in. Those
// that the strip fills are moved as one access; what is left at its two ends, fewer than two
// vectors, is moved element by element, best by as many threads at once.

#ifndef STRIDEWISE_TRANSPOSE_DEVICE_STRIP_H_
#define STRIDEWISE_TRANSPOSE_DEVICE_STRIP_H_

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "common/base/matrix.h"
#include "transpose/device/vectors.h"

namespace stridewise {

template <typename T>
class Strip {
 public:
  using Vectors = std::conditional_t<std::is_const_v<T>, const Vector, Vector>;
  static constexpr int kElements = kVectorElements<T>;
  static constexpr int kEnds = 2 * kElements;  // Elements at the ends, at most.

  __device__ Strip(T* data, int count) : data_(data), count_(count), lead_(Lead(data)) {}

  // Elements from a multiple of 16 bytes to the strip.
  STRIDEWISE_HOST_DEVICE static int Lead(const void* data) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(data) % kVectorBytes / sizeof(T));
  }
  __device__ int lead() const { return lead_; }

  // The place in the strip of a vector's first element, below 0 for one that starts before it.
  __device__ int First(int vector) const { return vector * kElements - lead_; }
  // Whether the strip has all of the vector.
  __device__ bool Fills(int vector) const {
    return First(vector) >= 0 && First(vector) + kElements <= count_;
  }
  // Counted in vectors: from an address that is counted in elements nvcc 13.0 makes four stores.
  __device__ Vectors& At(int vector) const {
    return reinterpret_cast<Vectors*>(data_ - lead_)[vector];
  }

  // The place in the strip of the i-th of kEnds elements at its ends, or -1 if there are not as
  // many.
  __device__ int End(int i) const {
    const int head = lead_ == 0 ? 0 : kElements - lead_;
    const int tail = (lead_ + count_) / kElements * kElements - lead_;
    const int place = i < kElements ? i : tail + i - kElements;
    const bool there = i < kElements ? place < head : place >= head;
    return there && place < count_ ? place : -1;
  }
  __device__ T& operator[](int place) const { return data_[place]; }

 private:
  T* data_;
  int count_;
  int lead_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_STRIP_H_
