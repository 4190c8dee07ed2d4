// How the C calls in host memory read their arguments, and how they refuse them.

#ifndef STRIDEWISE_BINDINGS_HOST_HOST_ARGUMENTS_H_
#define STRIDEWISE_BINDINGS_HOST_HOST_ARGUMENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include "bindings/host/stridewise_host.h"

namespace stridewise {

// Returns the message of the calling thread's last call that failed.
inline std::string& HostMessage() {
  thread_local std::string message;
  return message;
}

// Keeps the message and returns the status.
inline stridewise_status Refuse(stridewise_status status, const std::string& message) {
  HostMessage() = message;
  return status;
}

// Says which value of an argument is wrong, and which are not.
inline stridewise_status Wrong(const std::string& name, int64_t value, const std::string& allowed) {
  return Refuse(STRIDEWISE_INVALID_ARGUMENT,
                name + " is " + std::to_string(value) + "; allowed is " + allowed);
}

// Copies arguments of a caller whose header may be older or newer than this library.
template <typename Args>
stridewise_status Read(const Args* given, size_t least, Args* args) {
  if (given == nullptr) return Refuse(STRIDEWISE_INVALID_ARGUMENT, "args is null");
  const size_t size = given->struct_size;
  if (size < least) {
    return Wrong("args->struct_size", static_cast<int64_t>(size), std::to_string(sizeof(Args)));
  }
  std::memset(args, 0, sizeof(Args));
  std::memcpy(args, given, std::min(size, sizeof(Args)));
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Args); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return Refuse(STRIDEWISE_UNSUPPORTED, "args has a field at byte " + std::to_string(i) +
                                              " that this library does not know");
  }
  return STRIDEWISE_OK;
}

// Calls fn with arguments that were read, and returns its status, or the reason why not.
template <typename Args, typename Fn>
stridewise_status Run(const Args* given, size_t least, Fn fn) {
  try {
    Args args;
    const stridewise_status status = Read(given, least, &args);
    return status != STRIDEWISE_OK ? status : fn(args);
  } catch (const std::bad_alloc&) {
    return STRIDEWISE_OUT_OF_MEMORY;
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_BINDINGS_HOST_HOST_ARGUMENTS_H_
