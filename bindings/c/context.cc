#include "bindings/c/context.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "bindings/c/stridewise.h"

namespace stridewise::c_library {

void Message::Set(absl::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t length = std::min(text.size(), sizeof(text_) - 1);
  std::memcpy(text_, text.data(), length);
  text_[length] = '\0';
}

Message& MessageWithoutContext() {
  static thread_local Message message;
  return message;
}

stridewise_status StatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return STRIDEWISE_OK;
    case absl::StatusCode::kInvalidArgument:
      return STRIDEWISE_INVALID_ARGUMENT;
    case absl::StatusCode::kUnimplemented:
      return STRIDEWISE_UNSUPPORTED;
    case absl::StatusCode::kResourceExhausted:
      return STRIDEWISE_OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
      return STRIDEWISE_NO_DEVICE;
    case absl::StatusCode::kInternal:
      return STRIDEWISE_DEVICE_ERROR;
    default:
      return STRIDEWISE_INTERNAL;
  }
}

}  // namespace stridewise::c_library

const char* stridewise_status_name(stridewise_status status) {
  switch (status) {
    case STRIDEWISE_OK:
      return "ok";
    case STRIDEWISE_INVALID_ARGUMENT:
      return "invalid_argument";
    case STRIDEWISE_UNSUPPORTED:
      return "unsupported";
    case STRIDEWISE_OUT_OF_MEMORY:
      return "out_of_memory";
    case STRIDEWISE_NO_DEVICE:
      return "no_device";
    case STRIDEWISE_DEVICE_ERROR:
      return "device_error";
    case STRIDEWISE_INTERNAL:
      return "internal";
  }
  return "unknown";
}
