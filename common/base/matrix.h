// Views of row-major matrices whose rows may lie farther apart than they are long.
//
// A view owns nothing and copies as a value, into a kernel's arguments too. Element (r, c) lies at
// data[r * ld + c], counted in elements and in 64 bits, so that a matrix of more than 2^31 elements
// is nothing special. Preconditions: rows, cols >= 0, ld >= cols, and 0 <= r < rows, 0 <= c < cols
// of an access; none is checked here.

#ifndef STRIDEWISE_COMMON_BASE_MATRIX_H_
#define STRIDEWISE_COMMON_BASE_MATRIX_H_

#include <cstdint>

#if defined(__CUDACC__)
#define STRIDEWISE_HOST_DEVICE __host__ __device__
#else
#define STRIDEWISE_HOST_DEVICE
#endif

namespace stridewise {

// A matrix to be read.
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

// A matrix to be read and written.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;

  STRIDEWISE_HOST_DEVICE T& operator()(int64_t r, int64_t c) const { return data[r * ld + c]; }

  STRIDEWISE_HOST_DEVICE operator ConstMatrix<T>() const {  // NOLINT: a view may lose its pen.
    return {data, rows, cols, ld};
  }
};

// Returns the elements from the first to one past the last, the padding between rows included and
// that after the last row not.
STRIDEWISE_HOST_DEVICE inline int64_t SpanElements(int64_t rows, int64_t cols, int64_t ld) {
  return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_MATRIX_H_
