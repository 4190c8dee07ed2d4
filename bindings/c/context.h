// What every function of the C library goes through: the context, its device, and the way from a
// status to a number and a message. No exception leaves it.

#ifndef STRIDEWISE_BINDINGS_C_CONTEXT_H_
#define STRIDEWISE_BINDINGS_C_CONTEXT_H_

#include <mutex>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "bindings/c/stridewise.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/stream_workspace.h"
#include "matmul/context.h"

namespace stridewise::c_library {

// The message of a failure, cut off where it is longer. A reader that ignores the rule about
// threads gets a mixture of two messages, and never memory that was freed.
class Message {
 public:
  void Set(absl::string_view text);
  const char* text() const { return text_; }

 private:
  std::mutex mutex_;
  char text_[1024] = "";
};

// Returns the message of calls of this thread that have no context.
Message& MessageWithoutContext();

stridewise_status StatusOf(absl::StatusCode code);

// Calls fn(), which returns an absl::Status, and keeps the message of a failure.
template <typename Fn>
stridewise_status Run(Message& message, const Fn& fn) noexcept {
  try {
    const absl::Status status = fn();
    if (!status.ok()) message.Set(status.message());
    return StatusOf(status.code());
  } catch (const std::bad_alloc&) {
    message.Set("host memory is exhausted");
    return STRIDEWISE_OUT_OF_MEMORY;
  } catch (...) {
    message.Set("an unexpected exception inside the library");
    return STRIDEWISE_INTERNAL;
  }
}

}  // namespace stridewise::c_library

struct stridewise_context {
  explicit stridewise_context(stridewise::MatMulContext of_products)
      : matmul(std::move(of_products)), scratch(matmul.stream()) {}

  stridewise::MatMulContext matmul;
  stridewise::StreamWorkspace scratch;  // Of transposes in place.
  stridewise::c_library::Message message;

  // Calls fn() on the context's device.
  template <typename Fn>
  absl::Status OnDevice(const Fn& fn) {
    stridewise::DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(matmul.device()));
    return fn();
  }
};

namespace stridewise::c_library {

// Calls fn(*context) as Run() does, unless there is none.
template <typename Fn>
stridewise_status RunWith(stridewise_context* context, const Fn& fn) noexcept {
  if (context == nullptr) {
    MessageWithoutContext().Set("context is null; allowed is one of stridewise_create()");
    return STRIDEWISE_INVALID_ARGUMENT;
  }
  return Run(context->message, [&] { return fn(*context); });
}

}  // namespace stridewise::c_library

#endif  // STRIDEWISE_BINDINGS_C_CONTEXT_H_
