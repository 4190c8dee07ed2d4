#include "bindings/python/core/matrix.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "bindings/python/core/python.h"

namespace stridewise::python {

bool ReadMatrix(const Array& array, Matrix* matrix) {
  matrix->rows = array.shape[array.rank - 2];
  matrix->cols = array.shape[array.rank - 1];
  const int64_t row_stride = array.strides[array.rank - 2];
  const int64_t col_stride = array.strides[array.rank - 1];
  const bool one_row = matrix->rows <= 1;
  const bool one_col = matrix->cols <= 1;
  if ((one_col || col_stride == 1) && (one_row || row_stride >= matrix->cols)) {
    matrix->ld = one_row ? std::max<int64_t>(matrix->cols, 1) : row_stride;
  } else if ((one_row || row_stride == 1) && (one_col || col_stride >= matrix->rows)) {
    matrix->ld = one_col ? std::max<int64_t>(matrix->rows, 1) : col_stride;
    matrix->transposed = true;
  } else {
    const Ref strides = Tuple(array.strides, array.rank);
    PyErr_Format(PyExc_ValueError,
                 "%s has strides of %R elements; its rows or its columns must be contiguous",
                 array.name, strides.get());
    return false;
  }
  if (SetBatch(array, &matrix->batch, &matrix->stride)) return true;
  const Ref strides = Tuple(array.strides, array.rank);
  PyErr_Format(PyExc_ValueError,
               "%s has strides of %R elements; its matrices must be equally far from each other",
               array.name, strides.get());
  return false;
}

int SetProductShape(const Array& a, const Array& b, int64_t* shape) {
  for (const Array* array : {&a, &b}) {
    if (array->rank < 2) {
      PyErr_Format(PyExc_ValueError, "%s has %d dimensions; it must have 2 or more", array->name,
                   array->rank);
      return -1;
    }
  }
  const Ref a_shape = Tuple(a.shape, a.rank);
  const Ref b_shape = Tuple(b.shape, b.rank);
  if (!a_shape || !b_shape) return -1;
  if (a.shape[a.rank - 1] != b.shape[b.rank - 2]) {
    PyErr_Format(PyExc_ValueError,
                 "a has the shape %R and b %R; the columns of a must be the rows of b",
                 a_shape.get(), b_shape.get());
    return -1;
  }
  const Array& longer = a.rank >= b.rank ? a : b;
  const size_t batch_bytes = sizeof(int64_t) * static_cast<size_t>(longer.rank - 2);
  const bool same = a.rank == b.rank && std::memcmp(a.shape, b.shape, batch_bytes) == 0;
  if (!same && a.rank != 2 && b.rank != 2) {
    PyErr_Format(PyExc_ValueError,
                 "a has the shape %R and b %R; their batches must be the same, or one of them must "
                 "be a single matrix",
                 a_shape.get(), b_shape.get());
    return -1;
  }
  std::memcpy(shape, longer.shape, batch_bytes);
  shape[longer.rank - 2] = a.shape[a.rank - 2];
  shape[longer.rank - 1] = b.shape[b.rank - 1];
  return longer.rank;
}

}  // namespace stridewise::python
