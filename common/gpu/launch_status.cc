#include "common/gpu/launch_status.h"

#include <utility>

#include "absl/status/status.h"

namespace stridewise {

LaunchStatus::LaunchStatus(const absl::Status& status)
    : error_(status.ok() ? nullptr : new absl::Status(status)) {}

LaunchStatus& LaunchStatus::operator=(LaunchStatus&& other) noexcept {
  std::swap(error_, other.error_);
  return *this;
}

LaunchStatus::~LaunchStatus() { delete error_; }

LaunchStatus::operator absl::Status() const { return ok() ? absl::OkStatus() : *error_; }

}  // namespace stridewise
