#include "common/gpu/device_scope.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {

DeviceScope::~DeviceScope() {
  if (before_ != kCurrentDevice) (void)gpu::SetCurrentDevice(before_);
}

absl::Status DeviceScope::Enter(int device) {
  if (device == kCurrentDevice) return absl::OkStatus();
  const absl::StatusOr<int> current = gpu::CurrentDevice();
  if (current.ok() && *current == device) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int count, gpu::DeviceCount());
  if (device < 0 || device >= count) {
    return absl::InvalidArgumentError(absl::StrCat("device is ", device, "; allowed is 0 to ",
                                                   count - 1, ", or ", kCurrentDevice,
                                                   " for the current device"));
  }
  RETURN_IF_ERROR(current.status());
  RETURN_IF_ERROR(gpu::SetCurrentDevice(device));
  before_ = *current;
  return absl::OkStatus();
}

}  // namespace stridewise
