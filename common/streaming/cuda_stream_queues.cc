#include "common/streaming/cuda_stream_queues.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/device_scope.h"
#include "common/gpu/gpu_runtime.h"
#include "common/streaming/device_copies.h"
#include "common/streaming/narrow_stream.h"

namespace stridewise {
namespace {

class CudaStreamQueues : public StreamQueues {
 public:
  explicit CudaStreamQueues(int device) : device_(device) {}
  CudaStreamQueues(const CudaStreamQueues&) = delete;
  CudaStreamQueues& operator=(const CudaStreamQueues&) = delete;

  ~CudaStreamQueues() override {
    DeviceScope scope;
    if (!scope.Enter(device_).ok()) return;
    Finish().IgnoreError();
    for (const cudaEvent_t event : events_) {
      if (event != nullptr) gpu::DestroyEvent(event).IgnoreError();
    }
    for (const cudaStream_t stream : streams_) {
      if (stream != nullptr) gpu::DestroyStream(stream).IgnoreError();
    }
    for (void* const memory : memory_) gpu::Free(memory).IgnoreError();
  }

  absl::Status Open(int compute_multiprocessors) {
    DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(device_));
    if (compute_multiprocessors > 0) {
      // Without it kernels run on all.
      auto narrow = NarrowStream::Create(compute_multiprocessors);
      if (narrow.ok()) {
        narrow_[static_cast<int>(StreamQueue::kCompute)] = std::move((*narrow)[0]);
        narrow_[static_cast<int>(StreamQueue::kIn)] = std::move((*narrow)[1]);
      }
    }
    for (int queue = 0; queue < kStreamQueues; ++queue) {
      const bool computes = static_cast<StreamQueue>(queue) == StreamQueue::kCompute;
      if (narrow_[queue] != nullptr) continue;
      ASSIGN_OR_RETURN(streams_[queue], gpu::CreateStream(computes ? gpu::StreamPriority::kUsual
                                                                   : gpu::StreamPriority::kUrgent));
    }
    for (cudaEvent_t& event : events_) {
      RETURN_IF_CUDA_ERROR(cudaEventCreateWithFlags(&event, kEventFlags));
    }
    return absl::OkStatus();
  }

  absl::Status Enter() override { return gpu::SetCurrentDevice(device_); }

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    ASSIGN_OR_RETURN(void* const memory, gpu::Allocate(static_cast<size_t>(bytes)));
    memory_.push_back(memory);
    return memory;
  }

  absl::Status Copy(StreamQueue queue, const BlockCopy& copy) override {
    const auto size = [](int64_t bytes) { return static_cast<size_t>(bytes); };
    return ForDeviceCopies(copy, [&](const BlockCopy& part) {
      if (part.rows == 1) {
        return CUDA_STATUS(cudaMemcpyAsync(part.to, part.from, size(part.row_bytes),
                                           cudaMemcpyDefault, Stream(queue)));
      }
      return CUDA_STATUS(cudaMemcpy2DAsync(part.to, size(part.to_pitch), part.from,
                                           size(part.from_pitch), size(part.row_bytes),
                                           size(part.rows), cudaMemcpyDefault, Stream(queue)));
    });
  }

  absl::Status RunOn(StreamQueue queue, std::function<absl::Status(cudaStream_t)> work) override {
    return work(Stream(queue));
  }

  absl::Status Record(StreamQueue queue, int event) override {
    return gpu::RecordEvent(events_[event], Stream(queue));
  }

  absl::Status Wait(StreamQueue queue, int event) override {
    return CUDA_STATUS(cudaStreamWaitEvent(Stream(queue), events_[event], 0));
  }

  absl::Status WaitOnHost(int event) override {
    return CUDA_STATUS(cudaEventSynchronize(events_[event]));
  }

  absl::StatusOr<bool> IsDone(int event) override {
    const cudaError_t error = cudaEventQuery(events_[event]);
    if (error == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    RETURN_IF_ERROR(CUDA_STATUS(error));
    return true;
  }

  absl::Status Finish() override {
    absl::Status status;
    for (int queue = 0; queue < kStreamQueues; ++queue) {
      const cudaStream_t stream = Stream(static_cast<StreamQueue>(queue));
      if (stream != nullptr) status.Update(gpu::Synchronize(stream));
    }
    return status;
  }

 private:
  // The host sleeps while it waits, for milliseconds and more.
  static constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming;

  cudaStream_t Stream(StreamQueue queue) const {
    const int number = static_cast<int>(queue);
    return narrow_[number] != nullptr ? narrow_[number]->stream() : streams_[number];
  }

  int device_;
  std::array<cudaStream_t, kStreamQueues> streams_{};
  std::array<cudaEvent_t, kEvents> events_{};
  std::vector<void*> memory_;
  // Of queues whose kernels run on some multiprocessors.
  std::array<std::unique_ptr<NarrowStream>, kStreamQueues> narrow_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamQueues>> OpenCudaStreamQueues(int device,
                                                                   int compute_multiprocessors) {
  auto queues = std::make_unique<CudaStreamQueues>(device);
  RETURN_IF_ERROR(queues->Open(compute_multiprocessors));
  return std::unique_ptr<StreamQueues>(std::move(queues));
}

absl::StatusOr<std::vector<int>> StreamDevices(const StreamOptions& options) {
  ASSIGN_OR_RETURN(const int count, gpu::DeviceCount());
  std::vector<int> devices = options.devices;
  if (devices.empty()) {
    ASSIGN_OR_RETURN(const int current, gpu::CurrentDevice());
    devices.push_back(current);
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0 || devices[i] >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("devices: ", devices[i], " is not there; allowed is 0 to ", count - 1));
    }
    if (std::count(devices.begin(), devices.end(), devices[i]) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("devices: ", devices[i], " is named more than once"));
    }
  }
  return devices;
}

absl::Status CheckStreamOptions(const StreamOptions& options) {
  if (options.device_bytes < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("device_bytes is ", options.device_bytes, "; allowed is 0 and more"));
  }
  const StreamRates rates = options.rates.value_or(StreamRates());
  for (const auto& [name, rate] :
       {std::pair("flops", rates.flops), std::pair("bytes_in", rates.bytes_in),
        std::pair("bytes_out", rates.bytes_out), std::pair("host_bytes", rates.host_bytes)}) {
    if (rate > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rates.", name, " is ", rate, "; allowed is more than 0"));
  }
  return absl::OkStatus();
}

StreamRates RatesOf(const StreamOptions& options, absl::Span<const void* const> matrices) {
  if (options.rates.has_value()) return *options.rates;
  for (const void* const matrix : matrices) {
    cudaPointerAttributes attributes;
    const cudaError_t error = cudaPointerGetAttributes(&attributes, matrix);
    if (error != cudaSuccess || attributes.type == cudaMemoryTypeUnregistered) {
      (void)cudaGetLastError();
      return kPageableRates;
    }
  }
  return StreamRates();
}

absl::StatusOr<int64_t> StreamBudget(const std::vector<int>& devices,
                                     const StreamOptions& options) {
  if (options.device_bytes != 0) return options.device_bytes;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int device : devices) {
    DeviceScope scope;
    RETURN_IF_ERROR(scope.Enter(device));
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    RETURN_IF_CUDA_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
    least = std::min(least, static_cast<int64_t>(free_bytes / 10 * 9));
  }
  return least;
}

absl::Status RunStreamJobOnGpus(const StreamJob& job, const std::vector<int>& devices,
                                const StreamOptions& options) {
  std::vector<std::unique_ptr<StreamQueues>> owned;
  std::vector<StreamQueues*> queues;
  for (const int device : devices) {
    ASSIGN_OR_RETURN(std::unique_ptr<StreamQueues> opened, OpenCudaStreamQueues(device));
    queues.push_back(opened.get());
    owned.push_back(std::move(opened));
  }
  return RunStreamJob(job, queues, options);
}

}  // namespace stridewise
