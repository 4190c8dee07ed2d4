// Views of row-major matrices with a leading dimension.
//
// A view owns nothing and is copied by value, also into a kernel's arguments. Element (r, c) is
// data[r * ld + c], with offsets in elements and in 64 bits, so that a matrix may have more than
// 2^31 elements. REQUIRES: rows, cols >= 0, ld >= cols, and 0 <= r < rows, 0 <= c < cols for an
// access; nothing is checked here.

#ifndef STRIDEWISE_COMMON_BASE_MATRIX_H_
#define STRIDEWISE_COMMON_BASE_MATRIX_H_

#include <cstdint>

#if defined(__CUDACC__)
#define STRIDEWISE_HOST_DEVICE __host__ __device__
#else
#define STRIDEWISE_HOST_DEVICE
#endif

namespace stridewise {

// A view to read through.
template <typename T>
struct ConstMatrix {
  const T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;  // The leading dimension: elements from one row's start to the next.

  STRIDEWISE_HOST_DEVICE const T& operator()(int64_t r, int64_t c) const {
    return data[r * ld + c];
  }
};

// A view to read and write through.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  STRIDEWISE_HOST_DEVICE T& operator()(int64_t r, int64_t c) const { return data[r * ld + c]; }

  // Converts implicitly: a matrix that may be written may also be read.
  STRIDEWISE_HOST_DEVICE operator ConstMatrix<T>() const {  // NOLINT(google-explicit-constructor)
    return {data, rows, cols, ld};
  }
};

// Returns the number of elements from the first to the last of the matrix, including the padding
// between rows but not the padding after the last row.
STRIDEWISE_HOST_DEVICE inline int64_t SpanElements(int64_t rows, int64_t cols, int64_t ld) {
  return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_MATRIX_H_
