#include "bindings/python/core/cuda_interface.h"

#include <cstdlib>

#include "bindings/python/core/state.h"

namespace stridewise::python {
namespace {

bool Fail(const Array& array, const char* key, const char* allowed) {
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "%s.__cuda_array_interface__[\"%s\"] must be %s", array.name, key,
               allowed);
  return false;
}

// Reads a tuple of at most kMaxRank integers. Returns their number, or -1.
int ReadTuple(PyObject* tuple, int64_t* values) {
  if (tuple == nullptr || !PyTuple_Check(tuple)) return -1;
  const Py_ssize_t count = PyTuple_Size(tuple);
  if (count > kMaxRank) return -1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    values[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (values[i] == -1 && PyErr_Occurred()) return -1;
  }
  return static_cast<int>(count);
}

// Reads NumPy's typestr, such as "<f4": byte order, kind and bytes.
bool ReadTypestr(const char* text, DlType* type) {
  if (text[0] == '\0' || text[0] == '>') return false;
  const int64_t bytes = std::strtoll(text + 2, nullptr, 10);
  if (bytes < 1 || bytes > 16) return false;
  type->bits = static_cast<uint8_t>(8 * bytes);
  type->lanes = 1;
  switch (text[1]) {
    case 'i':
      type->code = kDlInt;
      return true;
    case 'u':
      type->code = kDlUInt;
      return true;
    case 'f':
      type->code = kDlFloat;
      return true;
    case 'c':
      type->code = kDlComplex;
      return true;
    case 'b':
      type->code = kDlBool;
      return true;
    case 'V':
      type->code = kDlOpaque;
      return true;
    default:
      return false;
  }
}

bool ReadStrides(PyObject* strides, Array* array) {
  if (strides == nullptr || strides == Py_None) {
    SetGaplessStrides(array->shape, array->rank, array->strides);
    return true;
  }
  if (ReadTuple(strides, array->strides) != array->rank) {
    return Fail(*array, "strides", "None or a tuple as long as the shape");
  }
  for (int d = 0; d < array->rank; ++d) {
    if (array->strides[d] % array->element_bytes() != 0) {
      return Fail(*array, "strides", "multiples of the element's size");
    }
    array->strides[d] /= array->element_bytes();
  }
  return true;
}

bool ReadStream(PyObject* stream, Array* array) {
  if (stream == nullptr || stream == Py_None) return true;
  const unsigned long long handle = PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred() || handle == 0) {
    return Fail(*array, "stream", "None or the handle of a stream");
  }
  array->has_stream = true;
  // 1 is CUDA's own handle of the default stream, too.
  array->stream = reinterpret_cast<stridewise_stream>(static_cast<uintptr_t>(handle));
  return true;
}

}  // namespace

bool ReadCudaInterface(const State& state, PyObject* interface, Array* array) {
  array->protocol = Protocol::kCudaInterface;
  if (!PyDict_Check(interface)) {
    PyErr_Format(PyExc_TypeError, "%s.__cuda_array_interface__ must be a dict", array->name);
    return false;
  }
  array->rank = ReadTuple(PyDict_GetItemString(interface, "shape"), array->shape);
  if (array->rank < 0) return Fail(*array, "shape", "a tuple of at most 16 integers");

  PyObject* typestr = PyDict_GetItemString(interface, "typestr");
  const Ref ascii(typestr != nullptr && PyUnicode_Check(typestr) ? PyUnicode_AsASCIIString(typestr)
                                                                 : nullptr);
  if (!ascii || !ReadTypestr(PyBytes_AsString(ascii.get()), &array->type)) {
    return Fail(*array, "typestr", "a type of this machine's byte order, such as \"<f4\"");
  }
  PyObject* data = PyDict_GetItemString(interface, "data");
  if (data == nullptr || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
    return Fail(*array, "data", "a tuple of a pointer and a flag");
  }
  const unsigned long long pointer = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  if (PyErr_Occurred()) return Fail(*array, "data", "a tuple of a pointer and a flag");
  array->data = reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));
  array->read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;

  array->device = state.driver.DeviceOf(array->data);

  PyObject* mask = PyDict_GetItemString(interface, "mask");
  if (mask != nullptr && mask != Py_None) return Fail(*array, "mask", "None");
  return ReadStrides(PyDict_GetItemString(interface, "strides"), array) &&
         ReadStream(PyDict_GetItemString(interface, "stream"), array);
}

}  // namespace stridewise::python
