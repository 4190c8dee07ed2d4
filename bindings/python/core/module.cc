// The extension module stridewise._core: what of the Python package has to be fast. A table of
// methods and the module's state.

#include <dlfcn.h>

#include "bindings/c/stridewise.h"
#include "bindings/python/core/documentation.h"
#include "bindings/python/core/move.h"
#include "bindings/python/core/product.h"
#include "bindings/python/core/python.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

bool Names::Make() {
  const std::pair<Ref*, const char*> names[] = {
      {&exchange, "__dlpack_c_exchange_api__"},
      {&cuda_interface, "__cuda_array_interface__"},
      {&dlpack, "__dlpack__"},
      {&dlpack_device, "__dlpack_device__"},
      {&requires_grad, "requires_grad"},
      {&new_empty, "new_empty"},
      {&is_conj, "is_conj"},
      {&is_neg, "is_neg"},
      {&cuda_stream, "cuda_stream"},
      {&stream_ptr, "ptr"},
      {&stream_handle, "handle"},
      {&stream_protocol, "__cuda_stream__"},
  };
  for (const auto& [ref, name] : names) {
    *ref = Ref(PyUnicode_InternFromString(name));
    if (!*ref) return false;
  }
  return true;
}

namespace {

State& StateOf(PyObject* module) { return **static_cast<State**>(PyModule_GetState(module)); }

using Function = PyObject* (*)(State&, Gradient, PyObject* const*, Py_ssize_t, PyObject*);

template <Function function, Gradient gradient>
PyObject* Method(PyObject* module, PyObject* const* args, Py_ssize_t positional,
                 PyObject* keywords) {
  return function(StateOf(module), gradient, args, positional, keywords);
}

PyObject* TimeCCallMethod(PyObject* module, PyObject* const* args, Py_ssize_t positional,
                          PyObject* keywords) {
  return TimeCCall(StateOf(module), args, positional, keywords);
}

// check_device(device): raises the RuntimeError that calls on that device would.
PyObject* CheckDevice(PyObject* module, PyObject* device) {
  const long number = PyLong_AsLong(device);
  if (PyErr_Occurred()) return nullptr;
  if (StateOf(module).contexts.Get(static_cast<int>(number), nullptr) == nullptr) return nullptr;
  Py_RETURN_NONE;
}

// library(): the version of the C library, and the file that it was loaded from.
PyObject* Library(PyObject*, PyObject*) {
  Dl_info info = {};
  dladdr(reinterpret_cast<const void*>(&stridewise_version), &info);
  return Py_BuildValue("(ss)", stridewise_version_string(), info.dli_fname);
}

template <typename Fn>
PyCFunction AsMethod(Fn* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;

PyMethodDef methods[] = {
    {"transpose", AsMethod(Method<Transpose, Gradient::kRecord>), kFast, kTransposeDoc},
    {"permute", AsMethod(Method<Permute, Gradient::kRecord>), kFast, kPermuteDoc},
    {"contiguous", AsMethod(Method<Contiguous, Gradient::kRecord>), kFast, kContiguousDoc},
    {"matmul", AsMethod(Method<MatMul, Gradient::kRecord>), kFast, kMatMulDoc},
    {"transpose_kernel", AsMethod(Method<Transpose, Gradient::kIgnore>), kFast, nullptr},
    {"permute_kernel", AsMethod(Method<Permute, Gradient::kIgnore>), kFast, nullptr},
    {"contiguous_kernel", AsMethod(Method<Contiguous, Gradient::kIgnore>), kFast, nullptr},
    {"matmul_kernel", AsMethod(Method<MatMul, Gradient::kIgnore>), kFast, nullptr},
    {"time_c_call", AsMethod(TimeCCallMethod), kFast, nullptr},
    {"check_device", CheckDevice, METH_O, nullptr},
    {"library", Library, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

int Execute(PyObject* module) {
  auto** state = static_cast<State**>(PyModule_GetState(module));
  *state = new State;
  return (*state)->names.Make() ? 0 : -1;
}

void Free(void* module) {
  auto** state = static_cast<State**>(PyModule_GetState(static_cast<PyObject*>(module)));
  if (state != nullptr) delete *state;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(Execute)},
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "stridewise._core",
    nullptr,
    sizeof(State*),
    methods,
    slots,
    nullptr,
    nullptr,
    Free,
};

}  // namespace
}  // namespace stridewise::python

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&stridewise::python::definition); }
