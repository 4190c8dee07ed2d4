#include "common/distributed/communication_queue.h"

#include <cstddef>
#include <utility>

#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

class GpuQueue : public CommunicationQueue {
 public:
  GpuQueue() = default;
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;
  ~GpuQueue() override {
    if (event_ != nullptr) gpu::DestroyEvent(event_).IgnoreError();
    if (stream_ != nullptr) gpu::DestroyStream(stream_).IgnoreError();
  }

  absl::Status Open() {
    ASSIGN_OR_RETURN(stream_, gpu::CreateStream(gpu::StreamPriority::kUrgent));
    ASSIGN_OR_RETURN(event_, gpu::CreateEvent());
    return absl::OkStatus();
  }

  cudaStream_t stream() const override { return stream_; }
  absl::Status Copy(void* to, const void* from, int64_t bytes) override {
    return gpu::CopyOnDevice(to, from, static_cast<size_t>(bytes), stream_);
  }
  absl::Status Record() override { return gpu::RecordEvent(event_, stream_); }
  absl::StatusOr<bool> IsDone() override { return gpu::HasCompleted(event_); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CommunicationQueue>> OpenCommunicationQueue() {
  auto queue = std::make_unique<GpuQueue>();
  RETURN_IF_ERROR(queue->Open());
  return std::unique_ptr<CommunicationQueue>(std::move(queue));
}

}  // namespace stridewise
