// Python's C API as this extension uses it: the stable ABI of Python 3.10, so that one file serves
// every later version.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_PYTHON_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_PYTHON_H_

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>

#include <utility>

namespace stridewise::python {

// Owns one reference to an object. Null means that there is no object; after a call of the API that
// failed a Python exception is set, too.
class Ref {
 public:
  Ref() = default;
  // Takes over the reference.
  explicit Ref(PyObject* object) : object_(object) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  // Makes one more reference.
  static Ref To(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Returns the attribute, or null without an exception where the object has none. Null with an
// exception means that reading it failed in another way.
inline Ref OptionalAttribute(PyObject* object, PyObject* name) {
  Ref value(PyObject_GetAttr(object, name));
  if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return value;
}

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_PYTHON_H_
