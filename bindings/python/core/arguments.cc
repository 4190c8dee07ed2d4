#include "bindings/python/core/arguments.h"

#include <algorithm>

namespace stridewise::python {
namespace {

// Returns the index of the argument, or -1.
int Find(const Signature& signature, PyObject* name) {
  for (int i = 0; i < signature.count; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, signature.names[i]) == 0) return i;
  }
  return -1;
}

}  // namespace

bool ReadArguments(const Signature& signature, PyObject* const* args, Py_ssize_t positional,
                   PyObject* keywords, PyObject** values) {
  if (positional > signature.positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %d arguments by position, and %zd were given",
                 signature.function, signature.positional, positional);
    return false;
  }
  std::fill(values, values + signature.count, nullptr);
  std::copy(args, args + positional, values);
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* const name = PyTuple_GetItem(keywords, i);
    const int at = Find(signature, name);
    if (at < 0 || values[at] != nullptr) {
      PyErr_Format(PyExc_TypeError,
                   at < 0 ? "%s() has no argument %R" : "%s() was given the argument %R twice",
                   signature.function, name);
      return false;
    }
    values[at] = args[positional + i];
  }
  for (int i = 0; i < signature.required; ++i) {
    if (values[i] == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", signature.function,
                   signature.names[i]);
      return false;
    }
  }
  return true;
}

}  // namespace stridewise::python
