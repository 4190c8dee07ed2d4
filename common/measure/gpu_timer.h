// Times one run of device work with CUDA events, and nothing but the work.
//
// Before each run a kernel holds the stream until the host has queued the start event, the work and
// the stop event behind it and lowers a flag, so that neither the host's speed nor the driver's
// launch latency is counted. What remains is the two events' own cost, which EmptyKernelMs()
// states: 1 to 2 us.
//
// A hold ends by itself after 250 ms of the GPU's clock, so that no mistake of the host can hang
// the device. That is more than the 100 ms for which Linux stops a container that has used up its
// share of the processors, and far from the 2 s after which a GPU with a display kills a kernel.

#ifndef STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_
#define STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device.h"

namespace stridewise {

// Queues device work on a stream and returns without waiting for it: work that waits for a held
// stream would wait for itself, until the hold times out.
using DeviceWork = std::function<absl::Status(cudaStream_t)>;

class GpuTimer {
 public:
  // With `cold_l2` every run starts with an L2 full of clean lines of another buffer, which takes
  // twice the L2's size of device memory; otherwise with what the run before it left there.
  // REQUIRES: `device` is current.
  static absl::StatusOr<std::unique_ptr<GpuTimer>> Create(const DeviceInfo& device, bool cold_l2);

  ~GpuTimer();
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  // Returns the stream of all timed work.
  cudaStream_t stream() const { return stream_; }

  // Runs the work once, waits for it and returns its milliseconds. `prepare` may be empty; it runs
  // before the work and is neither timed nor, when cold, left in the L2. The stream is idle when
  // this returns, with an error too.
  //
  // A time is discarded, and `prepare` and the work are run again, if the hold ended before all was
  // queued. After two such runs the work is run once more without a hold, and its time includes
  // what the device waits for the host: the work waits for its stream (which loading a kernel at
  // its first launch may do, too: run new work once before), or launches more kernels than a
  // stream's queue takes, about 1000, as cuBLAS's geam does for one row of 2^26 elements.
  absl::StatusOr<double> TimeOnce(const DeviceWork& work, const DeviceWork& prepare = nullptr);

  // Returns the median time of a kernel that does nothing, measured at creation.
  double EmptyKernelMs() const { return empty_kernel_ms_; }

  // Returns false where every launch waits for its kernel (CUDA_LAUNCH_BLOCKING=1, some sanitizers
  // and profilers), as found at creation. A hold could only time out there, so that there is none,
  // and all times include the host's.
  bool holds_stream() const { return holds_stream_; }

 private:
  GpuTimer() = default;

  // Returns nullopt if every attempt's hold timed out. Does not fall back to a run without one.
  absl::StatusOr<std::optional<double>> TryToTime(const DeviceWork& work,
                                                  const DeviceWork& prepare);

  // Queues a hold, if there is to be one, and behind it all of a run.
  absl::Status QueueRun(bool hold, const DeviceWork& work, const DeviceWork& prepare);

  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  DeviceBuffer flush_;     // Empty unless cold_l2.
  HostBuffer hold_flags_;  // Pinned; a HoldFlags of device_ops.h.
  uint64_t ticket_ = 0;    // Of the latest run.
  bool holds_stream_ = false;
  double empty_kernel_ms_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_GPU_TIMER_H_
