// Times one run of device work with CUDA events, and nothing but the work.
//
// Before each run the stream is kept busy while the host queues the start event, the work and the
// stop event behind it, so that neither the host's speed nor the driver's launch latency is
// counted. What remains is the two events' own cost, which EmptyKernelMs() states: 1 to 2 us.

#ifndef STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_
#define STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device.h"

namespace stridewise {

// Queues device work on a stream and returns without waiting for it.
using DeviceWork = std::function<absl::Status(cudaStream_t)>;

class GpuTimer {
 public:
  // `cold_l2`: every run starts with an L2 full of clean lines of another buffer; otherwise with
  // what the run before it left there. Takes twice the L2's size of device memory when cold.
  // REQUIRES: `device` is current.
  static absl::StatusOr<std::unique_ptr<GpuTimer>> Create(const DeviceInfo& device, bool cold_l2);

  ~GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  // The stream of all timed work.
  cudaStream_t stream() const { return stream_; }

  // Runs the work once and returns its milliseconds. Waits for it. `prepare`, where there is one,
  // runs before it and is neither timed nor, when cold, left in the L2.
  absl::StatusOr<double> TimeOnce(const DeviceWork& work, const DeviceWork& prepare = nullptr);

  // The median time of a kernel that does nothing, measured at creation.
  double EmptyKernelMs() const { return empty_kernel_ms_; }

 private:
  GpuTimer() = default;

  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  DeviceBuffer flush_;  // Empty when the L2 is to stay hot.
  double empty_kernel_ms_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_
