#include "common/measure/gpu_timer.h"

#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

// Enough for the host to queue an event, some launches of 2 to 5 us each and another event.
constexpr int kHoldMicroseconds = 40;

constexpr int kEmptyKernelRuns = 101;

}  // namespace

absl::StatusOr<std::unique_ptr<GpuTimer>> GpuTimer::Create(const DeviceInfo& device, bool cold_l2) {
  std::unique_ptr<GpuTimer> timer(new GpuTimer);
  ASSIGN_OR_RETURN(timer->stream_, gpu::CreateStream());
  ASSIGN_OR_RETURN(timer->start_, gpu::CreateEvent());
  ASSIGN_OR_RETURN(timer->stop_, gpu::CreateEvent());
  if (cold_l2) {
    ASSIGN_OR_RETURN(timer->flush_,
                     DeviceBuffer::Allocate(static_cast<size_t>(2 * device.l2_bytes)));
    RETURN_IF_ERROR(timer->flush_.Poison());
  }
  std::vector<double> times;
  for (int run = 0; run < kEmptyKernelRuns; ++run) {
    ASSIGN_OR_RETURN(const double ms, timer->TimeOnce(LaunchEmptyKernel));
    times.push_back(ms);
  }
  timer->empty_kernel_ms_ = Summarize(times).median;
  return timer;
}

GpuTimer::~GpuTimer() {
  if (start_ != nullptr) gpu::DestroyEvent(start_).IgnoreError();
  if (stop_ != nullptr) gpu::DestroyEvent(stop_).IgnoreError();
  if (stream_ != nullptr) gpu::DestroyStream(stream_).IgnoreError();
}

absl::StatusOr<double> GpuTimer::TimeOnce(const DeviceWork& work, const DeviceWork& prepare) {
  RETURN_IF_ERROR(HoldStream(kHoldMicroseconds, stream_));
  if (prepare) RETURN_IF_ERROR(prepare(stream_));
  if (flush_.bytes() > 0) {
    RETURN_IF_ERROR(ReadThroughL2(flush_.data(), flush_.bytes(), stream_));
  }
  RETURN_IF_ERROR(gpu::RecordEvent(start_, stream_));
  RETURN_IF_ERROR(work(stream_));
  RETURN_IF_ERROR(gpu::RecordEvent(stop_, stream_));
  RETURN_IF_ERROR(gpu::Synchronize(stream_));
  return gpu::ElapsedMs(start_, stop_);
}

}  // namespace stridewise
