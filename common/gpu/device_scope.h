// Makes a device the calling thread's for as long as a call takes.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_SCOPE_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_SCOPE_H_

#include "absl/status/status.h"

namespace stridewise {

// The number that library calls take for the calling thread's device.
inline constexpr int kCurrentDevice = -1;

class DeviceScope {
 public:
  DeviceScope() = default;
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();  // Makes the device before it the thread's again.

  // Makes `device` the calling thread's, unless it is kCurrentDevice or that one already. Returns
  // InvalidArgument, naming it and what is allowed, for a device that is not there. To be called
  // once.
  absl::Status Enter(int device);

 private:
  int before_ = kCurrentDevice;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_SCOPE_H_
