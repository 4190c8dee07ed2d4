// The stream that a call's work is queued on.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_STREAM_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_STREAM_H_

#include "bindings/python/core/array.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

// Reads the argument `stream`: a handle as an integer, or an object of a framework: with
// __cuda_stream__(), or PyTorch's cuda_stream, CuPy's ptr, Numba's handle. Absent and None leave
// *stream null and *given false. Returns false with a TypeError for anything else.
bool ReadStream(State& state, PyObject* argument, bool* given, stridewise_stream* stream);

// Returns the stream on which the array's framework works now: PyTorch's current stream, the one
// in __cuda_array_interface__, otherwise CUDA's default stream. Returns false with an exception.
bool CurrentStream(const Array& array, stridewise_stream* stream);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_STREAM_H_
