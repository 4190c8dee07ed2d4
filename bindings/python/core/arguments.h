// The arguments of a call from Python, by position or by name, as METH_FASTCALL | METH_KEYWORDS
// passes them.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_ARGUMENTS_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_ARGUMENTS_H_

#include "bindings/python/core/python.h"

namespace stridewise::python {

struct Signature {
  const char* function;
  int required;              // The first arguments must be given,
  int positional;            // and the first ones may be given by position.
  int count;                 // Of all.
  const char* const* names;  // Of all.
};

// Sets `values`, of signature.count elements, to borrowed arguments; null where one is not given.
// Returns false with a TypeError that names the function and the argument.
bool ReadArguments(const Signature& signature, PyObject* const* args, Py_ssize_t positional,
                   PyObject* keywords, PyObject** values);

// Returns whether an argument was given and is not None.
inline bool IsGiven(PyObject* argument) { return argument != nullptr && argument != Py_None; }

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_ARGUMENTS_H_
