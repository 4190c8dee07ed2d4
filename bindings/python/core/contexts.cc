#include "bindings/python/core/contexts.h"

#include <algorithm>
#include <utility>

namespace stridewise::python {

Context* Contexts::Get(int device, stridewise_stream stream) {
  for (size_t i = 0; i < contexts_.size(); ++i) {
    if (contexts_[i]->device == device && contexts_[i]->stream == stream) {
      if (i != 0) std::swap(contexts_[0], contexts_[i]);
      return contexts_[0].get();
    }
  }
  auto context = std::make_unique<Context>();
  context->device = device;
  context->stream = stream;
  const stridewise_status status = stridewise_create(&context->handle, device, stream);
  if (status != STRIDEWISE_OK) {
    SetError(status, stridewise_message(nullptr));
    return nullptr;
  }
  contexts_.push_back(std::move(context));
  std::swap(contexts_.front(), contexts_.back());
  return contexts_.front().get();
}

bool SetError(stridewise_status status, const char* message) {
  PyObject* kind = PyExc_RuntimeError;
  if (status == STRIDEWISE_INVALID_ARGUMENT) kind = PyExc_ValueError;
  if (status == STRIDEWISE_UNSUPPORTED) kind = PyExc_NotImplementedError;
  if (status == STRIDEWISE_OUT_OF_MEMORY) kind = PyExc_MemoryError;
  PyErr_Format(kind, "%s", message[0] != '\0' ? message : stridewise_status_name(status));
  return false;
}

}  // namespace stridewise::python
