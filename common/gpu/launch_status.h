// The result of a launcher: OK, or an error that converts to absl::Status.
//
// Kernel files return this type because the headers of absl::Status take four of the six seconds
// that nvcc needs for a short kernel. Everything else returns absl::Status; the two convert into
// each other.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCH_STATUS_H_
#define STRIDEWISE_COMMON_GPU_LAUNCH_STATUS_H_

#include "absl/base/config.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
class Status;
ABSL_NAMESPACE_END
}  // namespace absl

namespace stridewise {

class [[nodiscard]] LaunchStatus {
 public:
  LaunchStatus() = default;                  // OK
  LaunchStatus(const absl::Status& status);  // NOLINT(google-explicit-constructor)
  LaunchStatus(LaunchStatus&& other) noexcept : error_(other.error_) { other.error_ = nullptr; }
  LaunchStatus& operator=(LaunchStatus&& other) noexcept;
  ~LaunchStatus();

  bool ok() const { return error_ == nullptr; }
  operator absl::Status() const;  // NOLINT(google-explicit-constructor)

 private:
  absl::Status* error_ = nullptr;  // Owned; null for OK.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCH_STATUS_H_
