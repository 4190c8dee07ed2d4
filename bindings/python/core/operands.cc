#include "bindings/python/core/operands.h"

#include "bindings/python/core/arguments.h"
#include "bindings/python/core/result.h"
#include "bindings/python/core/stream.h"

namespace stridewise::python {

bool Operands::ReadStreamArgument(PyObject* argument) {
  if (!ReadStream(state_, argument, &stream_given_, &stream_)) return false;
  stream_known_ = stream_given_;
  return true;
}

bool Operands::ReadInput(PyObject* object, const char* name, Array* array) {
  if (!ReadArray(state_, object, name, stream_, array)) return false;
  if (array->protocol == Protocol::kDlpack) must_wait_ = true;
  if (stream_known_) return true;
  stream_known_ = true;
  return CurrentStream(*array, &stream_);
}

bool Operands::TakeOrMakeOut(PyObject* object, const Array& like, const int64_t* shape, int rank,
                             DlType type, Array* out) {
  const bool given = IsGiven(object);
  if (!given) {
    made_ = NewArray(state_, like, shape, rank, type);
    if (!made_) return false;
    object = made_.get();
  }
  if (!ReadArray(state_, object, "out", stream_, out)) return false;
  if (out->protocol == Protocol::kDlpack) must_wait_ = true;
  if (!given) return true;
  if (!CheckShape(*out, shape, rank)) return false;
  if (out->device != like.device) {
    PyErr_Format(PyExc_ValueError, "out is on device %d; it must be on that of %s, %d", out->device,
                 like.name, like.device);
    return false;
  }
  if (out->read_only) {
    PyErr_SetString(PyExc_ValueError, "out is read-only");
    return false;
  }
  return true;
}

bool CheckOutType(const Array& out, DlType type) {
  if (out.type.code == type.code && out.type.bits == type.bits) return true;
  const Ref found = TypeName(out.type);
  const Ref wanted = TypeName(type);
  if (found && wanted) {
    PyErr_Format(PyExc_ValueError, "out has elements of type %S; they must be %S", found.get(),
                 wanted.get());
  }
  return false;
}

PyObject* Operands::Finish(const Array& out) {
  if (must_wait_ && !state_.driver.Synchronize(out.device, stream_)) {
    PyErr_SetString(PyExc_RuntimeError, "the work on the stream failed");
    return nullptr;
  }
  return Ref::To(out.object).release();
}

int WantsGradient(const State& state, const Array& array) {
  if (array.protocol != Protocol::kExchange) return 0;
  const Ref requires_grad = OptionalAttribute(array.object, state.names.requires_grad.get());
  if (!requires_grad) return PyErr_Occurred() ? -1 : 0;
  if (requires_grad.get() != Py_True) return 0;
  const Ref torch(PyImport_ImportModule("torch"));
  if (!torch) return -1;
  const Ref enabled(PyObject_CallMethod(torch.get(), "is_grad_enabled", nullptr));
  return enabled ? PyObject_IsTrue(enabled.get()) : -1;
}

PyObject* CallRecorded(const char* function, PyObject* out, PyObject* arguments) {
  const Ref owned(arguments);
  if (!owned) return nullptr;
  if (IsGiven(out)) {
    PyErr_SetString(PyExc_ValueError,
                    "out cannot be given where an input requires a gradient; leave it out, or call "
                    "under torch.no_grad()");
    return nullptr;
  }
  const Ref module(PyImport_ImportModule("stridewise.torch"));
  const Ref callable(module ? PyObject_GetAttrString(module.get(), function) : nullptr);
  return callable ? PyObject_CallObject(callable.get(), owned.get()) : nullptr;
}

}  // namespace stridewise::python
