// Wraps the few calls of the CUDA runtime that host code needs, with absl::Status.
//
// A build without a CUDA toolkit links gpu_none.cc instead, where every call returns Unavailable:
// programs need no #if to run on a machine that cannot build CUDA.

#ifndef STRIDEWISE_COMMON_GPU_GPU_RUNTIME_H_
#define STRIDEWISE_COMMON_GPU_GPU_RUNTIME_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/device.h"
#include "common/gpu/device_model.h"

namespace stridewise::gpu {

// Returns false if the program was built without a CUDA toolkit.
bool BuiltWithCuda();

// Returns the number of devices, at least 1, or Unavailable with the reason where there is none.
absl::StatusOr<int> DeviceCount();

// Returns the properties of a device. REQUIRES: 0 <= index < DeviceCount().
absl::StatusOr<DeviceInfo> QueryDevice(int index);

// Returns the index of the calling thread's device.
absl::StatusOr<int> CurrentDevice();

// Makes `index` the calling thread's device and does nothing else.
absl::Status SetCurrentDevice(int index);

// Returns the model of the calling thread's device, asked for once (current_device.h), or
// Unavailable with the reason where there is none.
absl::StatusOr<const DeviceModel*> CurrentModel();

// Makes `index` the calling thread's device and creates its context (the slow part, 0.1 to 1 s).
absl::Status UseDevice(int index);

// Allocates device memory, aligned to 256 bytes. Returns ResourceExhausted, with the number of
// bytes and of those free, where it does not fit; the device remains usable. 0 bytes give a null
// pointer.
absl::StatusOr<void*> Allocate(size_t bytes);
absl::Status Free(void* device);

// The same in the order of the stream, without waiting for it: the memory may be used by work that
// is queued behind the call, and is given back when the work before the call is done. REQUIRES: the
// stream is not being captured.
absl::StatusOr<void*> AllocateOnStream(size_t bytes, cudaStream_t stream);
absl::Status FreeOnStream(void* device, cudaStream_t stream);

// The same as Allocate() and Free(), and also where streams are being captured into graphs, by any
// thread: neither ends up in a graph. FreeAnytime() waits for the device.
absl::StatusOr<void*> AllocateAnytime(size_t bytes);
absl::Status FreeAnytime(void* device);

// Returns the number of the capture that the stream takes part in, which no other capture of the
// process has; 0 where the stream is not being captured.
absl::StatusOr<uint64_t> CaptureOf(cudaStream_t stream);

// Allocates page-locked host memory.
absl::StatusOr<void*> AllocatePinned(size_t bytes);
absl::Status FreePinned(void* host, size_t bytes);  // As many as were allocated.

// Copies between any two pointers, to host or device, and waits for the copy.
absl::Status Copy(void* to, const void* from, size_t bytes);

// Queues a device-to-device copy.
absl::Status CopyOnDevice(void* to, const void* from, size_t bytes, cudaStream_t stream);

// Queues a fill of device memory with one byte.
absl::Status FillBytes(void* device, uint8_t byte, size_t bytes, cudaStream_t stream);

// Waits for the stream and returns the first error of the work on it.
absl::Status Synchronize(cudaStream_t stream);

// Of two streams with kernels that wait for multiprocessors, those of the urgent one go first:
// copies and messages beside a product, whose blocks would else all be placed before them.
enum class StreamPriority { kUsual, kUrgent };
absl::StatusOr<cudaStream_t> CreateStream(StreamPriority priority = StreamPriority::kUsual);
absl::Status DestroyStream(cudaStream_t stream);

absl::StatusOr<cudaEvent_t> CreateEvent();
absl::Status DestroyEvent(cudaEvent_t event);
absl::Status RecordEvent(cudaEvent_t event, cudaStream_t stream);
// Returns whether the work before the event is done. Also allowed where streams are being captured
// into graphs, by any thread.
absl::StatusOr<bool> HasCompleted(cudaEvent_t event);
// Returns the milliseconds between two events that have completed.
absl::StatusOr<double> ElapsedMs(cudaEvent_t start, cudaEvent_t stop);

// Begin and end the part of the program that a profiler records if it was started with profiling
// off; without a profiler they do nothing.
absl::Status StartProfiler();
absl::Status StopProfiler();

}  // namespace stridewise::gpu

#endif  // STRIDEWISE_COMMON_GPU_GPU_RUNTIME_H_
