#include "bindings/python/core/stream.h"

namespace stridewise::python {
namespace {

bool FromInteger(PyObject* value, stridewise_stream* stream) {
  const unsigned long long handle = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) return false;
  *stream = reinterpret_cast<stridewise_stream>(static_cast<uintptr_t>(handle));
  return true;
}

// Reads what object.__cuda_stream__() returns: a version, 0, and the handle.
bool FromProtocol(PyObject* method, stridewise_stream* stream) {
  const Ref pair(PyCallable_Check(method) ? PyObject_CallNoArgs(method) : nullptr);
  return pair && PyTuple_Check(pair.get()) && PyTuple_Size(pair.get()) == 2 &&
         FromInteger(PyTuple_GetItem(pair.get(), 1), stream);
}

bool FromHandle(PyObject* handle, stridewise_stream* stream) {
  if (PyLong_Check(handle)) return FromInteger(handle, stream);
  const Ref value(PyObject_GetAttrString(handle, "value"));  // Of a ctypes.c_void_p.
  if (!value) return false;
  if (value.get() != Py_None) return FromInteger(value.get(), stream);
  *stream = nullptr;
  return true;
}

}  // namespace

bool ReadStream(State& state, PyObject* argument, bool* given, stridewise_stream* stream) {
  *given = argument != nullptr && argument != Py_None;
  *stream = nullptr;
  if (!*given) return true;
  if (PyLong_Check(argument)) {
    if (FromInteger(argument, stream)) return true;
  } else if (const Ref method = OptionalAttribute(argument, state.names.stream_protocol.get())) {
    if (FromProtocol(method.get(), stream)) return true;
  } else if (const Ref torch = OptionalAttribute(argument, state.names.cuda_stream.get())) {
    if (FromHandle(torch.get(), stream)) return true;
  } else if (const Ref cupy = OptionalAttribute(argument, state.names.stream_ptr.get())) {
    if (FromHandle(cupy.get(), stream)) return true;
  } else if (const Ref numba = OptionalAttribute(argument, state.names.stream_handle.get())) {
    if (FromHandle(numba.get(), stream)) return true;
  }
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError,
               "stream is %R; it must be None, a handle as an integer, or a stream of PyTorch, "
               "CuPy or Numba",
               argument);
  return false;
}

bool CurrentStream(const Array& array, stridewise_stream* stream) {
  *stream = array.stream;
  if (array.protocol != Protocol::kExchange) return true;
  void* current = nullptr;
  if (array.exchange->current_stream(kDlCuda, array.device, &current) != 0) return false;
  *stream = static_cast<stridewise_stream>(current);
  return true;
}

}  // namespace stridewise::python
