// What the CUDA runtime is asked, and told, about a kernel once for each device instead of at every
// launch: cudaFuncGetAttributes() and cudaFuncSetAttribute(). Included by .cu files.
//
// The answers are kept in one table of the process, an entry for each kernel and device, which is
// found without a lock. What a kernel was compiled to never changes; its limit of shared memory
// only grows. cudaDeviceReset() and a second context of a device bring the limit back to its
// default: Launch() of launch.h then sets it again. All functions may be called from any thread,
// and mean the calling thread's device.

#ifndef STRIDEWISE_COMMON_GPU_KERNEL_STATE_H_
#define STRIDEWISE_COMMON_GPU_KERNEL_STATE_H_

#include <cuda_runtime_api.h>

#include <cstddef>

namespace stridewise {

// What the device runs of a kernel.
struct KernelCode {
  int compute_capability = 0;  // That it was compiled for: 90 for 9.0.
  size_t local_bytes = 0;      // Local memory of a thread.
  size_t static_bytes = 0;     // Shared memory of a block, without what a launch adds.
};

#ifdef STRIDEWISE_HOST_EXECUTOR
inline KernelCode CodeOf(const void* /*kernel*/) { return {90, 0, 0}; }
#else
// Returns zeros where the runtime returns an error: the launch will return it.
KernelCode CodeOf(const void* kernel);
#endif

// Returns the kernel's code and whether a launch with this number of bytes of dynamic shared
// memory, beside the kernel's own, needs a limit that was raised, and raises it; all that a launch
// asks, with one look at the table. `error` is that of RaiseSharedLimit().
struct KernelLaunch {
  KernelCode code;
  bool asks = false;
  cudaError_t error = cudaSuccess;
};
KernelLaunch PrepareLaunch(const void* kernel, size_t shared_bytes);

// Lets the kernel be launched with this number of bytes of dynamic shared memory, at least. With
// `again` the runtime is told even where it was told before.
cudaError_t RaiseSharedLimit(const void* kernel, size_t bytes, bool again = false);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_KERNEL_STATE_H_
