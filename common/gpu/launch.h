// Launch(): how every kernel here is launched. Included by .cu files.
//
//   return Launch(Naive<T>, TileGrid(m, n, 16, 16), Block{16, 16}, 0, stream, a, b, c);
//
// Returns InvalidArgument naming the extent when CUDA would refuse the grid or the block, and any
// launch error with the kernel's name. An empty grid launches nothing and is OK. Does not wait for
// the kernel: an error inside it shows at the next synchronisation. Compiled for the host executor
// the same call runs the kernel there: see common/executor/launch.h.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCH_H_
#define STRIDEWISE_COMMON_GPU_LAUNCH_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "common/gpu/launch_geometry.h"
#include "common/gpu/launch_status.h"

#ifdef STRIDEWISE_HOST_EXECUTOR
#include "common/executor/launch.h"
#endif

namespace stridewise {

#ifdef STRIDEWISE_HOST_EXECUTOR
using executor::Launch;
using executor::LaunchClusters;
using executor::LaunchDependent;
using executor::LaunchDependentClusters;

// Its kernels are compiled for compute capability 9.0.
inline bool IsCompiledForSm90(const void* /*kernel*/) { return true; }
#else
// When a kernel may begin.
enum class Begin {
  kAfterPrevious,   // When the work queued before it has ended.
  kDuringPrevious,  // When blocks of the kernel before it have ended: see LaunchDependent().
};

// Returns whether the kernel's code for the current device was compiled for compute capability 9.0
// or newer: older code has no instructions for clusters, and none that wait for another kernel.
bool IsCompiledForSm90(const void* kernel);

// Launches with CUDA's array of pointers to the arguments. Use Launch() instead.
LaunchStatus LaunchUntyped(const void* kernel, const Grid& grid, const Block& block,
                           size_t shared_bytes, cudaStream_t stream, Begin begin, int cluster,
                           void** arguments);

template <typename... Params, typename... Args>
LaunchStatus LaunchTyped(void (*kernel)(Params...), const Grid& grid, const Block& block,
                         size_t shared_bytes, cudaStream_t stream, Begin begin, int cluster,
                         Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter");
  std::tuple<Params...> values(std::forward<Args>(args)...);
  return std::apply(
      [&](auto&... value) {
        // One more than needed: an array of no elements is not C++.
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&value))..., nullptr};
        return LaunchUntyped(reinterpret_cast<const void*>(kernel), grid, block, shared_bytes,
                             stream, begin, cluster, pointers);
      },
      values);
}

// Launches the kernel with these arguments, see above. `shared_bytes` is the dynamic shared memory;
// where it and the kernel's static one are more than 48 KB the kernel's limit is raised first.
template <typename... Params, typename... Args>
LaunchStatus Launch(void (*kernel)(Params...), const Grid& grid, const Block& block,
                    size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  return LaunchTyped(kernel, grid, block, shared_bytes, stream, Begin::kAfterPrevious,
                     /*cluster=*/1, std::forward<Args>(args)...);
}

// Launches a kernel whose threads all call WaitForPreviousKernel(): before they access what the
// previous kernel writes and before they write what it reads, and at the latest before they end, so
// that what waits for this kernel waits for the previous one too (stream_k.h). Its blocks begin
// where blocks of the previous kernel on the stream have ended, while others still run (CUDA's
// programmatic dependent launch, compute capability 9.0), which saved 2 us of a pair's 36.
// On other devices this is Launch(). May be captured into a graph. An even earlier begin, when all
// previous blocks have begun, cost 1 us: they then share multiprocessors with blocks that wait.
template <typename... Params, typename... Args>
LaunchStatus LaunchDependent(void (*kernel)(Params...), const Grid& grid, const Block& block,
                             size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  return LaunchTyped(kernel, grid, block, shared_bytes, stream, Begin::kDuringPrevious,
                     /*cluster=*/1, std::forward<Args>(args)...);
}

// Does what Launch() does, with clusters of `cluster` blocks that are neighbours in x and run at
// the same time (see cluster.h). REQUIRES: grid.x is a multiple of `cluster`, which is at most 16,
// and is 1 unless the device has compute capability 9.0.
template <typename... Params, typename... Args>
LaunchStatus LaunchClusters(int cluster, void (*kernel)(Params...), const Grid& grid,
                            const Block& block, size_t shared_bytes, cudaStream_t stream,
                            Args&&... args) {
  return LaunchTyped(kernel, grid, block, shared_bytes, stream, Begin::kAfterPrevious, cluster,
                     std::forward<Args>(args)...);
}

// Does what LaunchDependent() does, with clusters.
template <typename... Params, typename... Args>
LaunchStatus LaunchDependentClusters(int cluster, void (*kernel)(Params...), const Grid& grid,
                                     const Block& block, size_t shared_bytes, cudaStream_t stream,
                                     Args&&... args) {
  return LaunchTyped(kernel, grid, block, shared_bytes, stream, Begin::kDuringPrevious, cluster,
                     std::forward<Args>(args)...);
}
#endif

#if defined(__CUDACC__) || defined(STRIDEWISE_HOST_EXECUTOR)
// Waits until the results of the previous kernel can be read. See LaunchDependent().
__device__ inline void WaitForPreviousKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Allows the next kernel on the stream, if it is one of LaunchDependent(), to begin where blocks of
// this one end, from when all of them have called this.
__device__ inline void LetNextKernelBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Returns the block's row in a TileGrid, whose rows continue in z beyond 65535.
template <typename Index = int64_t>
__device__ inline Index BlockRow() {
  return static_cast<Index>(blockIdx.z) * gridDim.y + blockIdx.y;
}
#endif

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCH_H_
