#include "bindings/python/core/driver.h"

#include <dlfcn.h>

#include <cstdint>

namespace stridewise::python {
namespace {

constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

Driver::Driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  Find(library, "cuPointerGetAttribute", &pointer_attribute_);
  Find(library, "cuDeviceGet", &device_get_);
  Find(library, "cuDevicePrimaryCtxRetain", &retain_context_);
  Find(library, "cuDevicePrimaryCtxRelease_v2", &release_context_);
  Find(library, "cuCtxPushCurrent_v2", &push_context_);
  Find(library, "cuCtxPopCurrent_v2", &pop_context_);
  Find(library, "cuStreamSynchronize", &synchronize_);
}

int Driver::DeviceOf(const void* data) const {
  int device = 0;
  if (pointer_attribute_ == nullptr || data == nullptr ||
      pointer_attribute_(&device, kDeviceOrdinal, reinterpret_cast<uintptr_t>(data)) != 0) {
    return 0;
  }
  return device;
}

bool Driver::Synchronize(int device, stridewise_stream stream) const {
  if (device_get_ == nullptr || retain_context_ == nullptr || release_context_ == nullptr ||
      push_context_ == nullptr || pop_context_ == nullptr || synchronize_ == nullptr) {
    return false;
  }
  int handle = 0;
  void* context = nullptr;
  if (device_get_(&handle, device) != 0 || retain_context_(&context, handle) != 0) return false;
  // The default stream is that of the current context.
  bool done = push_context_(context) == 0;
  if (done) {
    done = synchronize_(stream) == 0;
    pop_context_(&context);
  }
  release_context_(handle);
  return done;
}

}  // namespace stridewise::python
