// The contexts of the C library: one for each stream of each device that was used.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_CONTEXTS_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_CONTEXTS_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/c/stridewise.h"
#include "bindings/python/core/python.h"

namespace stridewise::python {

// A context and what keeps its calls apart: a message belongs to the last call that failed.
struct Context {
  int device = 0;
  stridewise_stream stream = nullptr;
  stridewise_context* handle = nullptr;
  std::mutex mutex;
};

class Contexts {
 public:
  // Returns the context of a stream, which is made at its first use and kept; or null with an
  // exception. The calling thread holds the GIL.
  Context* Get(int device, stridewise_stream stream);

 private:
  std::vector<std::unique_ptr<Context>> contexts_;  // The last used one is the first.
};

// Sets the exception of a status and its message, and returns false: ValueError for an invalid
// argument, NotImplementedError for what is not supported, MemoryError, and RuntimeError.
bool SetError(stridewise_status status, const char* message);

// Makes a call with the context, without the GIL, since a first call loads kernels for some
// milliseconds. Returns false with an exception if it fails.
template <typename Fn>
bool Call(Context* context, Fn call) {
  stridewise_status status;
  std::string message;
  Py_BEGIN_ALLOW_THREADS;
  {
    const std::lock_guard<std::mutex> lock(context->mutex);
    status = call(context->handle);
    if (status != STRIDEWISE_OK) message = stridewise_message(context->handle);
  }
  Py_END_ALLOW_THREADS;
  return status == STRIDEWISE_OK || SetError(status, message.c_str());
}

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_CONTEXTS_H_
