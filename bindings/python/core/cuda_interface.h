// __cuda_array_interface__, by which CuPy and Numba describe their arrays: versions 2 and 3.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_CUDA_INTERFACE_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_CUDA_INTERFACE_H_

#include "bindings/python/core/array.h"

namespace stridewise::python {

// Copies what the interface, a dict, says. Returns false with a TypeError or ValueError that names
// the argument and the key.
bool ReadCudaInterface(const State& state, PyObject* interface, Array* array);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_CUDA_INTERFACE_H_
