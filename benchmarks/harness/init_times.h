// What the first use of each implementation costs a program: the init_ms of all sweeps.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_INIT_TIMES_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_INIT_TIMES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/machine.h"
#include "common/base/clock.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/implementation.h"

namespace stridewise {

class InitTimes {
 public:
  // `machine` is borrowed.
  explicit InitTimes(const Machine* machine) : machine_(*machine) {}

  // Returns the milliseconds that Measure() found for the key, or nothing before it was called.
  std::optional<double> Find(const std::string& key) const;

  // Times `first_use`, the smallest run that loads what the implementation needs, and waits for it
  // on a device, and keeps the time under `key`. The device's context is added for device
  // implementations, and the handle's creation for those that need cuBLAS.
  absl::StatusOr<double> Measure(const std::string& key, const Implementation& implementation,
                                 const std::function<absl::Status()>& first_use);

  // Creates and times the cuBLAS handle, at the first call.
  absl::Status EnsureCublas();

  // Null before EnsureCublas().
  cublasHandle_t cublas() const { return cublas_.get(); }

 private:
  const Machine& machine_;
  SteadyClock clock_;
  CublasHandle cublas_;
  double cublas_ms_ = 0;
  std::map<std::string, double> ms_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_INIT_TIMES_H_
