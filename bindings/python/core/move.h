// transpose(), permute() and contiguous(): calls that move elements.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_H_

#include "bindings/python/core/state.h"

namespace stridewise::python {

// How a call treats inputs of which PyTorch wants a gradient.
enum class Gradient {
  kRecord,  // Hands the call to stridewise.torch.
  kIgnore,  // Is the kernel of an operator, below what records gradients.
};

PyObject* Transpose(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                    PyObject* keywords);
PyObject* Permute(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                  PyObject* keywords);
PyObject* Contiguous(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                     PyObject* keywords);

// Returns the seconds that one call of stridewise_permute() takes on the host, for programs that
// ask what Python adds: time_c_call(x, dims, out, calls).
PyObject* TimeCCall(State& state, PyObject* const* args, Py_ssize_t positional, PyObject* keywords);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_H_
