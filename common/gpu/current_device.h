// The device that plans are made for. Included by .cu files.

#ifndef STRIDEWISE_COMMON_GPU_CURRENT_DEVICE_H_
#define STRIDEWISE_COMMON_GPU_CURRENT_DEVICE_H_

#include "common/gpu/device_model.h"

namespace stridewise {

#ifdef STRIDEWISE_HOST_EXECUTOR
namespace executor {

// The host executor is a small device, unless the caller hands a kernel's launcher another model.
inline const DeviceModel& CurrentDeviceModel() {
  static constexpr DeviceModel kModel = SmallModel();
  return kModel;
}

}  // namespace executor
using executor::CurrentDeviceModel;
#else
// Returns the model of the calling thread's device; null where there is no device. All devices are
// asked once, at the first call; later calls take some ten nanoseconds.
const DeviceModel* FindCurrentDeviceModel();

// Does the same and returns H200Model() where there is no device: the launch that is planned will
// return the error.
const DeviceModel& CurrentDeviceModel();
#endif

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_CURRENT_DEVICE_H_
