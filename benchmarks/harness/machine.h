// The machine that a sweep runs on: its GPU opened once, and the columns that describe it.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_MACHINE_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_MACHINE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/gpu/device.h"
#include "common/gpu/nvml.h"
#include "common/measure/gpu_timer.h"
#include "common/measure/result_row.h"

namespace stridewise {

class Machine {
 public:
  // Opens the GPU that the options name. A machine without one is no error: gpu_status() tells.
  // InvalidArgument for a --device that does not exist where others do.
  static absl::StatusOr<std::unique_ptr<Machine>> Open(const SweepOptions& options);

  // OK if there is a GPU, otherwise why not.
  const absl::Status& gpu_status() const { return gpu_status_; }

  // REQUIRES of the three: gpu_status() is OK.
  const DeviceInfo& device() const { return *device_; }
  GpuTimer& timer() const { return *timer_; }
  const Nvml& nvml() const { return *nvml_; }

  // How long the device took to become usable: context, and what the driver loads with it.
  double context_ms() const { return context_ms_; }

  // Sets the columns of the group "run", with the time of now. Those of the device only for device
  // rows: a host row says nothing about a GPU.
  void Describe(bool device_row, ResultRow* row) const;

  // One line for people: GPU or why there is none, CPU, commit, the harness's overhead.
  std::string Headline() const;

 private:
  Machine() = default;

  absl::Status gpu_status_;
  std::optional<DeviceInfo> device_;
  std::unique_ptr<GpuTimer> timer_;
  std::unique_ptr<Nvml> nvml_;
  double context_ms_ = 0;
  std::string host_;
  std::string cpu_;
  std::string affinity_;
  std::string driver_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_MACHINE_H_
