#include "bindings/python/core/array.h"

#include <cstring>

#include "bindings/python/core/cuda_interface.h"
#include "bindings/python/core/read_dlpack.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {
namespace {

// Returns whether the object's type is defined in a module of this framework.
bool IsOf(PyObject* object, const char* framework) {
  const Ref module(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__module__"));
  const Ref name(module && PyUnicode_Check(module.get()) ? PyUnicode_AsASCIIString(module.get())
                                                         : nullptr);
  PyErr_Clear();
  return name && std::strncmp(PyBytes_AsString(name.get()), framework, std::strlen(framework)) == 0;
}

// Returns whether an element of the type is moved whole by the kernels.
bool CheckType(const Array& array) {
  const int64_t bits = static_cast<int64_t>(array.type.bits) * array.type.lanes;
  if (array.type.lanes == 1 && (bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128))
    return true;
  PyErr_Format(PyExc_TypeError, "%s has elements of %lld bits; they can have 8, 16, 32, 64 or 128",
               array.name, static_cast<long long>(bits));
  return false;
}

// Lazily conjugated and negated tensors of PyTorch hold other bits than their values.
bool CheckBitsAreValues(State& state, const Array& array) {
  for (PyObject* name : {state.names.is_conj.get(), state.names.is_neg.get()}) {
    const Ref method = OptionalAttribute(array.object, name);
    if (!method) return !PyErr_Occurred();
    const Ref answer(PyObject_CallNoArgs(method.get()));
    if (!answer) return false;
    if (PyObject_IsTrue(answer.get()) == 1) {
      PyErr_Format(PyExc_ValueError,
                   "%s is a lazy conjugate or negative; pass %s.resolve_conj().resolve_neg()",
                   array.name, array.name);
      return false;
    }
  }
  return true;
}

}  // namespace

Array::~Array() {
  if (managed_ == nullptr && managed_versioned_ == nullptr) return;
  // A deleter may run Python code, which must not see, or lose, the exception of a call that
  // failed.
  PyObject* type;
  PyObject* value;
  PyObject* traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  if (managed_versioned_ != nullptr && managed_versioned_->deleter != nullptr) {
    managed_versioned_->deleter(managed_versioned_);
  }
  PyErr_Restore(type, value, traceback);
}

int64_t Array::elements() const {
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= shape[d];
  return count;
}

bool ReadArray(State& state, PyObject* object, const char* name, stridewise_stream stream,
               Array* array) {
  array->name = name;
  array->object = object;
  array->exchange = FindExchange(state, object);
  if (array->exchange != nullptr) {
    array->protocol = Protocol::kExchange;
    DlTensor tensor;
    if (array->exchange->borrow_from_object(object, &tensor) != 0) return false;
    return CopyTensor(tensor, array) && CheckType(*array) && CheckBitsAreValues(state, *array);
  }
  if (IsOf(object, "torch")) {  // Whose other protocols do not say what the current stream is.
    PyErr_Format(PyExc_TypeError, "%s is a %R of a PyTorch before 2.10; it must be of a newer one",
                 name, Py_TYPE(object));
    return false;
  }
  // JAX has both protocols, and orders its work before a stream's only by DLPack.
  if (!IsOf(object, "jax")) {
    const Ref interface = OptionalAttribute(object, state.names.cuda_interface.get());
    if (interface) return ReadCudaInterface(state, interface.get(), array) && CheckType(*array);
    if (PyErr_Occurred()) return false;
  }
  const Ref dlpack = OptionalAttribute(object, state.names.dlpack_device.get());
  if (!dlpack) {
    if (PyErr_Occurred()) return false;
    PyErr_Format(PyExc_TypeError,
                 "%s is a %R; it must be an array in device memory, with __dlpack__ or "
                 "__cuda_array_interface__",
                 name, Py_TYPE(object));
    return false;
  }
  // Asked first: what lives elsewhere need not understand a stream.
  const Ref device(PyObject_CallNoArgs(dlpack.get()));
  int type = 0;
  int id = 0;
  if (!device || !PyArg_ParseTuple(device.get(), "ii", &type, &id)) return false;
  const DlTensor nothing = {nullptr, {type, id}, 0, {}, nullptr, nullptr, 0};
  return CopyTensor(nothing, array) && ReadDlpack(state, object, stream, array) &&
         CheckType(*array);
}

Ref TypeName(DlType type) {
  switch (type.code) {
    case kDlInt:
      return Ref(PyUnicode_FromFormat("int%d", type.bits));
    case kDlUInt:
      return Ref(PyUnicode_FromFormat("uint%d", type.bits));
    case kDlFloat:
      return Ref(PyUnicode_FromFormat("float%d", type.bits));
    case kDlBfloat:
      return Ref(PyUnicode_FromFormat("bfloat%d", type.bits));
    case kDlComplex:
      return Ref(PyUnicode_FromFormat("complex%d", type.bits));
    case kDlBool:
      return Ref(PyUnicode_FromString("bool"));
    case kDlE4m3:
      return Ref(PyUnicode_FromString("float8_e4m3fn"));
    case kDlE5m2:
      return Ref(PyUnicode_FromString("float8_e5m2"));
    default:
      return Ref(PyUnicode_FromFormat("%d opaque bytes", type.bits / 8));
  }
}

Ref Tuple(const int64_t* values, int count) {
  Ref tuple(PyTuple_New(count));
  for (int i = 0; tuple && i < count; ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (value == nullptr || PyTuple_SetItem(tuple.get(), i, value) != 0) return {};
  }
  return tuple;
}

bool CheckShape(const Array& array, const int64_t* expected, int rank) {
  if (array.rank == rank &&
      std::memcmp(array.shape, expected, sizeof(int64_t) * static_cast<size_t>(rank)) == 0) {
    return true;
  }
  const Ref wanted = Tuple(expected, rank);
  const Ref found = Tuple(array.shape, array.rank);
  if (wanted && found) {
    PyErr_Format(PyExc_ValueError, "%s has the shape %R; it must have %R", array.name, found.get(),
                 wanted.get());
  }
  return false;
}

bool SetBatch(const Array& array, int64_t* batch, int64_t* stride) {
  *batch = 1;
  *stride = 0;
  for (int d = array.rank - 3; d >= 0; --d) {
    if (array.shape[d] == 1) continue;
    if (*batch != 1 && array.strides[d] != *batch * *stride) return false;
    if (*batch == 1) *stride = array.strides[d];
    *batch *= array.shape[d];
  }
  return true;
}

void SetGaplessStrides(const int64_t* shape, int rank, int64_t* strides) {
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d] > 0 ? shape[d] : 1;
  }
}

}  // namespace stridewise::python
