// matmul(): products of matrices and batches of them.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_PRODUCT_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_PRODUCT_H_

#include "bindings/python/core/move.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

PyObject* MatMul(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                 PyObject* keywords);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_PRODUCT_H_
