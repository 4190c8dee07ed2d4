#include "common/measure/gpu_timer.h"

#include <new>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

constexpr uint64_t kHoldTimeoutMs = 250;
constexpr int kAttempts = 2;
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
  ASSIGN_OR_RETURN(timer->hold_flags_,
                   HostBuffer::Allocate(sizeof(HoldFlags), HostMemory::kPinned));
  new (timer->hold_flags_.data()) HoldFlags;
  // The first run is not held, as it loads the kernels. The second finds out whether holds work.
  RETURN_IF_ERROR(timer->TimeOnce(LaunchEmptyKernel).status());
  timer->holds_stream_ = true;
  ASSIGN_OR_RETURN(const std::optional<double> held,
                   timer->TryToTime(LaunchEmptyKernel, /*prepare=*/nullptr));
  timer->holds_stream_ = held.has_value();
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
  ASSIGN_OR_RETURN(const std::optional<double> ms, TryToTime(work, prepare));
  if (ms.has_value()) return *ms;
  const absl::Status queued = QueueRun(/*hold=*/false, work, prepare);
  const absl::Status ended = gpu::Synchronize(stream_);
  RETURN_IF_ERROR(queued);
  RETURN_IF_ERROR(ended);
  return gpu::ElapsedMs(start_, stop_);
}

absl::StatusOr<std::optional<double>> GpuTimer::TryToTime(const DeviceWork& work,
                                                          const DeviceWork& prepare) {
  auto* flags = hold_flags_.As<HoldFlags>();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ++ticket_;
    const absl::Status queued = QueueRun(holds_stream_, work, prepare);
    flags->released = ticket_;
    const absl::Status ended = gpu::Synchronize(stream_);
    RETURN_IF_ERROR(queued);
    RETURN_IF_ERROR(ended);
    if (flags->timed_out != ticket_) return gpu::ElapsedMs(start_, stop_);
  }
  return std::nullopt;
}

absl::Status GpuTimer::QueueRun(bool hold, const DeviceWork& work, const DeviceWork& prepare) {
  if (hold) {
    RETURN_IF_ERROR(
        HoldStream(hold_flags_.As<HoldFlags>(), ticket_, kHoldTimeoutMs * 1000000, stream_));
  }
  if (prepare) RETURN_IF_ERROR(prepare(stream_));
  if (flush_.bytes() > 0) {
    RETURN_IF_ERROR(ReadThroughL2(flush_.data(), flush_.bytes(), stream_));
  }
  RETURN_IF_ERROR(gpu::RecordEvent(start_, stream_));
  RETURN_IF_ERROR(work(stream_));
  return gpu::RecordEvent(stop_, stream_);
}

}  // namespace stridewise
