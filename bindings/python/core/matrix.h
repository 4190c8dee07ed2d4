// An array's last two dimensions as a matrix, or as a batch of them, and the shape of a product.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_MATRIX_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_MATRIX_H_

#include <cstdint>

#include "bindings/python/core/array.h"

namespace stridewise::python {

// The last two dimensions of an array as a matrix.
struct Matrix {
  int64_t rows;
  int64_t cols;
  int64_t ld = 0;
  bool transposed = false;  // Columns are contiguous, and ld steps from one to the next.
  int64_t batch = 1;
  int64_t stride = 0;
};

// Reads it. Returns false with a ValueError where neither rows nor columns are contiguous, or where
// the matrices of the batch are not equally far from each other.
bool ReadMatrix(const Array& array, Matrix* matrix);

// Sets the shape of the product. Returns its rank, or -1 with a ValueError.
int SetProductShape(const Array& a, const Array& b, int64_t* shape);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_MATRIX_H_
