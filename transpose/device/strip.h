// Takes a run of elements in global memory that starts and ends anywhere as vectors. Included by
// .cu files.
//
// Vectors start at multiples of 16 bytes, and the strip starts in vector 0. Vectors that the strip
// fills are moved with one access each. What remains at its two ends, fewer than two vectors, is
// moved element by element, best by that many threads at once.

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
  static constexpr int kEnds = 2 * kElements;  // The most elements that the two ends have.

  __device__ Strip(T* data, int count) : data_(data), count_(count), lead_(Lead(data)) {}

  // Returns the number of elements between the last multiple of 16 bytes and `data`.
  STRIDEWISE_HOST_DEVICE static int Lead(const void* data) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(data) % kVectorBytes / sizeof(T));
  }
  __device__ int lead() const { return lead_; }

  // Returns the index in the strip of a vector's first element; it is negative if the vector starts
  // before the strip.
  __device__ int First(int vector) const { return vector * kElements - lead_; }
  // Returns whether all of the vector is in the strip.
  __device__ bool Fills(int vector) const {
    return First(vector) >= 0 && First(vector) + kElements <= count_;
  }
  // Returns the vector. The address is computed in vectors: from one computed in elements nvcc 13.0
  // makes four stores.
  __device__ Vectors& At(int vector) const {
    return reinterpret_cast<Vectors*>(data_ - lead_)[vector];
  }

  // Returns the index in the strip of the i-th of kEnds elements at its ends, or -1 if the ends
  // have fewer.
  __device__ int End(int i) const {
    const int head = lead_ == 0 ? 0 : kElements - lead_;
    const int tail = (lead_ + count_) / kElements * kElements - lead_;
    const int index = i < kElements ? i : tail + i - kElements;
    const bool exists = i < kElements ? index < head : index >= head;
    return exists && index < count_ ? index : -1;
  }
  __device__ T& operator[](int index) const { return data_[index]; }

 private:
  T* data_;
  int count_;
  int lead_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DEVICE_STRIP_H_
