// The two things that are asked of NVIDIA's driver directly: on which device memory is, and to
// wait.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_DRIVER_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_DRIVER_H_

#include "bindings/c/stridewise.h"

namespace stridewise::python {

class Driver {
 public:
  // Opens the driver's library, which need not be there.
  Driver();

  // Returns the device that the memory belongs to; 0 if that is not known.
  int DeviceOf(const void* data) const;

  // Waits until the work on a stream of a device is done. Returns false if the driver says that it
  // failed, or is not there.
  bool Synchronize(int device, stridewise_stream stream) const;

 private:
  int (*pointer_attribute_)(void*, int, unsigned long long) = nullptr;
  int (*device_get_)(int*, int) = nullptr;
  int (*retain_context_)(void**, int) = nullptr;
  int (*release_context_)(int) = nullptr;
  int (*push_context_)(void*) = nullptr;
  int (*pop_context_)(void**) = nullptr;
  int (*synchronize_)(stridewise_stream) = nullptr;
};

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_DRIVER_H_
