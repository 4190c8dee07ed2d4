// gpu_runtime.h on the CUDA runtime.

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/current_device.h"
#include "common/gpu/gpu_runtime.h"

// As in cuda_profiler_api.h, which NVIDIA packs apart from the runtime; the runtime's library has
// both.
extern "C" {
cudaError_t CUDARTAPI cudaProfilerStart();  // NOLINT(readability-identifier-naming)
cudaError_t CUDARTAPI cudaProfilerStop();   // NOLINT(readability-identifier-naming)
}

namespace stridewise::gpu {
namespace {

template <typename Int>
absl::Status ReadAttribute(cudaDeviceAttr attribute, int device, Int* value) {
  int raw = 0;
  RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(&raw, attribute, device));
  *value = raw;
  return absl::OkStatus();
}

// Returns what an allocation made. ResourceExhausted says what was free.
absl::StatusOr<void*> Allocated(cudaError_t error, const char* call, size_t bytes, void* device) {
  if (error == cudaErrorMemoryAllocation) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&free_bytes, &total_bytes);
    return absl::ResourceExhaustedError(absl::StrCat("device memory: ", bytes, " bytes requested, ",
                                                     free_bytes, " of ", total_bytes, " free"));
  }
  RETURN_IF_ERROR(CudaStatus(error, call, __FILE__, __LINE__));
  return device;
}

// Lets the calling thread allocate while a stream is being captured, which otherwise is an error
// that ends the capture.
class RelaxedCapture {
 public:
  RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;  // The one that it replaced.
};

}  // namespace

bool BuiltWithCuda() { return true; }

absl::StatusOr<int> DeviceCount() {
  int driver_version = 0;
  if (cudaDriverGetVersion(&driver_version) == cudaSuccess && driver_version == 0) {
    return absl::UnavailableError("no NVIDIA driver");
  }
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    return absl::UnavailableError(absl::StrCat("no CUDA device: ", cudaGetErrorString(error)));
  }
  if (count == 0) return absl::UnavailableError("no CUDA device");
  return count;
}

absl::StatusOr<DeviceInfo> QueryDevice(int index) {
  cudaDeviceProp properties;
  RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&properties, index));
  DeviceInfo info;
  info.index = index;
  info.name = properties.name;
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  info.memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  info.l2_bytes = properties.l2CacheSize;
  info.max_threads_per_block = properties.maxThreadsPerBlock;
  info.max_shared_bytes_per_block = static_cast<int64_t>(properties.sharedMemPerBlockOptin);
  char bus_id[32] = "";
  RETURN_IF_CUDA_ERROR(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), index));
  info.pci_bus_id = bus_id;
  // CUDA 13 removed the clocks from cudaDeviceProp.
  RETURN_IF_ERROR(ReadAttribute(cudaDevAttrClockRate, index, &info.sm_clock_khz));
  RETURN_IF_ERROR(ReadAttribute(cudaDevAttrMemoryClockRate, index, &info.memory_clock_khz));
  RETURN_IF_ERROR(ReadAttribute(cudaDevAttrGlobalMemoryBusWidth, index, &info.memory_bus_bits));
  RETURN_IF_CUDA_ERROR(cudaDriverGetVersion(&info.driver_cuda_version));
  RETURN_IF_CUDA_ERROR(cudaRuntimeGetVersion(&info.runtime_cuda_version));
  return info;
}

absl::StatusOr<int> CurrentDevice() {
  int device = 0;
  RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  return device;
}

absl::Status SetCurrentDevice(int index) { return CUDA_STATUS(cudaSetDevice(index)); }

absl::StatusOr<const DeviceModel*> CurrentModel() {
  const DeviceModel* model = FindCurrentDeviceModel();
  if (model != nullptr) return model;
  RETURN_IF_ERROR(DeviceCount().status());
  return absl::UnavailableError("no CUDA device");
}

absl::Status UseDevice(int index) {
  RETURN_IF_CUDA_ERROR(cudaSetDevice(index));
  return CUDA_STATUS(cudaFree(nullptr));  // Creates the context now, not at the first timed call.
}

absl::StatusOr<void*> Allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* device = nullptr;
  const cudaError_t error = cudaMalloc(&device, bytes);
  return Allocated(error, "cudaMalloc", bytes, device);
}

absl::Status Free(void* device) { return CUDA_STATUS(cudaFree(device)); }

absl::StatusOr<void*> AllocateOnStream(size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  const RelaxedCapture relaxed;
  void* device = nullptr;
  const cudaError_t error = cudaMallocAsync(&device, bytes, stream);
  return Allocated(error, "cudaMallocAsync", bytes, device);
}

absl::Status FreeOnStream(void* device, cudaStream_t stream) {
  const RelaxedCapture relaxed;
  return CUDA_STATUS(cudaFreeAsync(device, stream));
}

absl::StatusOr<void*> AllocateAnytime(size_t bytes) {
  const RelaxedCapture relaxed;
  return Allocate(bytes);
}

absl::Status FreeAnytime(void* device) {
  const RelaxedCapture relaxed;
  return Free(device);
}

absl::StatusOr<uint64_t> CaptureOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long capture = 0;
  RETURN_IF_CUDA_ERROR(cudaStreamGetCaptureInfo(stream, &status, &capture));
  return status == cudaStreamCaptureStatusActive ? capture : 0;
}

absl::Status Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  RETURN_IF_CUDA_ERROR(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  // A copy from pageable memory may return before its last part has reached the device.
  return Synchronize(nullptr);
}

absl::Status CopyOnDevice(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return absl::OkStatus();
  return CUDA_STATUS(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

absl::Status FillBytes(void* device, uint8_t byte, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return absl::OkStatus();
  return CUDA_STATUS(cudaMemsetAsync(device, byte, bytes, stream));
}

absl::Status Synchronize(cudaStream_t stream) { return CUDA_STATUS(cudaStreamSynchronize(stream)); }

absl::StatusOr<cudaStream_t> CreateStream(StreamPriority priority) {
  int least = 0;
  int greatest = 0;
  RETURN_IF_CUDA_ERROR(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  RETURN_IF_CUDA_ERROR(cudaStreamCreateWithPriority(
      &stream, cudaStreamNonBlocking, priority == StreamPriority::kUrgent ? greatest : least));
  return stream;
}

absl::Status DestroyStream(cudaStream_t stream) { return CUDA_STATUS(cudaStreamDestroy(stream)); }

absl::StatusOr<cudaEvent_t> CreateEvent() {
  cudaEvent_t event = nullptr;
  RETURN_IF_CUDA_ERROR(cudaEventCreate(&event));
  return event;
}

absl::Status DestroyEvent(cudaEvent_t event) { return CUDA_STATUS(cudaEventDestroy(event)); }

absl::Status RecordEvent(cudaEvent_t event, cudaStream_t stream) {
  return CUDA_STATUS(cudaEventRecord(event, stream));
}

absl::StatusOr<bool> HasCompleted(cudaEvent_t event) {
  const RelaxedCapture relaxed;
  const cudaError_t error = cudaEventQuery(event);
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  RETURN_IF_ERROR(CudaStatus(error, "cudaEventQuery", __FILE__, __LINE__));
  return true;
}

absl::StatusOr<double> ElapsedMs(cudaEvent_t start, cudaEvent_t stop) {
  float ms = 0;
  RETURN_IF_CUDA_ERROR(cudaEventElapsedTime(&ms, start, stop));
  return ms;
}

absl::Status StartProfiler() { return CUDA_STATUS(cudaProfilerStart()); }
absl::Status StopProfiler() { return CUDA_STATUS(cudaProfilerStop()); }

}  // namespace stridewise::gpu
