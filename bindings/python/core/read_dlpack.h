// DLPack, by which frameworks describe their arrays: PyTorch by a table of functions, JAX and
// others by a capsule from __dlpack__().

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_READ_DLPACK_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_READ_DLPACK_H_

#include "bindings/c/stridewise.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/dlpack.h"
#include "bindings/python/core/python.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

// Returns the table of functions that the object's type publishes, or null.
const DlExchange* FindExchange(State& state, PyObject* object);

// Reads what object.__dlpack__() returns, which `array` then keeps alive. The producer makes
// `stream` wait for its work. Returns false with an exception.
bool ReadDlpack(State& state, PyObject* object, stridewise_stream stream, Array* array);

// Copies what a tensor says. Returns false with a ValueError for memory that is not on a GPU, and
// for too many dimensions.
bool CopyTensor(const DlTensor& tensor, Array* array);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_READ_DLPACK_H_
