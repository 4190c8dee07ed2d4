#include "benchmarks/harness/init_times.h"

#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {

std::optional<double> InitTimes::Find(const std::string& key) const {
  const auto known = ms_.find(key);
  if (known == ms_.end()) return std::nullopt;
  return known->second;
}

absl::StatusOr<double> InitTimes::Measure(const std::string& key,
                                          const Implementation& implementation,
                                          const std::function<absl::Status()>& first_use) {
  const bool device = implementation.on_device();
  const double start = clock_.Now();
  RETURN_IF_ERROR(first_use());
  if (device) RETURN_IF_ERROR(gpu::Synchronize(machine_.timer().stream()));
  double ms = (clock_.Now() - start) * 1e3;
  if (device) ms += machine_.context_ms();
  if (implementation.needs_cublas) ms += cublas_ms_;
  ms_[key] = ms;
  return ms;
}

absl::Status InitTimes::EnsureCublas() {
  if (cublas_.get() != nullptr) return absl::OkStatus();
  const double start = clock_.Now();
  ASSIGN_OR_RETURN(cublas_, CublasHandle::Create());
  cublas_ms_ = (clock_.Now() - start) * 1e3;
  return absl::OkStatus();
}

}  // namespace stridewise
