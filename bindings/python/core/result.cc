#include "bindings/python/core/result.h"

namespace stridewise::python {
namespace {

void SetAllocationError(void*, const char*, const char* message) {
  PyErr_SetString(PyExc_RuntimeError, message);
}

Ref NewByExchange(const Array& like, const int64_t* shape, int rank, DlType type) {
  DlTensor prototype = {};
  prototype.device = {kDlCuda, like.device};
  prototype.rank = rank;
  prototype.type = type;
  prototype.shape = const_cast<int64_t*>(shape);  // Read only.
  DlManagedVersioned* managed = nullptr;
  void* object = nullptr;
  if (like.exchange->allocate(&prototype, &managed, nullptr, SetAllocationError) != 0 ||
      like.exchange->object_from_managed(managed, &object) != 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "no memory for the result");
    return {};
  }
  return Ref(static_cast<PyObject*>(object));
}

// Calls the maker of stridewise/_frameworks.py for the framework.
Ref NewByFramework(const Array& like, const int64_t* shape, int rank, DlType type, bool same) {
  const Ref module(PyImport_ImportModule("stridewise._frameworks"));
  if (!module) return {};
  const Ref make(PyObject_GetAttrString(module.get(), "new_array"));
  const Ref extents = Tuple(shape, rank);
  const Ref name = same ? Ref::To(Py_None) : TypeName(type);
  if (!make || !extents || !name) return {};
  return Ref(
      PyObject_CallFunctionObjArgs(make.get(), like.object, extents.get(), name.get(), nullptr));
}

}  // namespace

Ref NewArray(const State& state, const Array& like, const int64_t* shape, int rank, DlType type) {
  const bool same = type.code == like.type.code && type.bits == like.type.bits;
  if (like.protocol != Protocol::kExchange) return NewByFramework(like, shape, rank, type, same);
  // Memory that PyTorch itself allocates: Tensor.record_stream() does nothing for other memory.
  const Ref new_empty = OptionalAttribute(like.object, state.names.new_empty.get());
  if (!new_empty) {
    return PyErr_Occurred() ? Ref() : NewByExchange(like, shape, rank, type);
  }
  if (!same) return NewByFramework(like, shape, rank, type, same);
  const Ref extents = Tuple(shape, rank);
  if (!extents) return {};
  return Ref(PyObject_CallFunctionObjArgs(new_empty.get(), extents.get(), nullptr));
}

}  // namespace stridewise::python
