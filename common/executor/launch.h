// Launch() for kernels compiled for the host executor: common/gpu/launch.h includes this header in
// place of its own functions. Arguments and errors are the same; the kernel has ended when it
// returns.

#ifndef STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_
#define STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"
#include "common/gpu/launch_status.h"

namespace stridewise::executor {

// A kernel and its arguments.
struct KernelCall {
  uintptr_t kernel = 0;
  void (*run)(void* arguments) = nullptr;  // Runs one thread of the kernel.
  void* arguments = nullptr;
  size_t arguments_bytes = 0;
  bool cooperative = false;  // All blocks run at the same time, for barriers of the grid.
};

// Does what Executor::Run() does, with clusters of `cluster` blocks, on the executor whose stream
// this is.
LaunchStatus RunOnExecutorOf(cudaStream_t stream, const KernelCall& call, const Grid& grid,
                             const Block& block, size_t shared_bytes, const Grid& cluster);

template <typename... Params, typename... Args>
LaunchStatus LaunchOfClusters(const Grid& cluster, void (*kernel)(Params...), const Grid& grid,
                              const Block& block, size_t shared_bytes, cudaStream_t stream,
                              Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter");
  struct Arguments {
    void (*kernel)(Params...);
    std::tuple<Params...> values;
  } arguments{kernel, std::tuple<Params...>(std::forward<Args>(args)...)};
  KernelCall call;
  call.kernel = reinterpret_cast<uintptr_t>(kernel);
  call.run = [](void* pointer) {
    auto* a = static_cast<Arguments*>(pointer);
    std::apply(a->kernel, a->values);
  };
  call.arguments = &arguments;
  call.arguments_bytes = sizeof(arguments);
  return RunOnExecutorOf(stream, call, grid, block, shared_bytes, cluster);
}

template <typename... Params, typename... Args>
LaunchStatus Launch(void (*kernel)(Params...), const Grid& grid, const Block& block,
                    size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  return LaunchOfClusters(Grid{1}, kernel, grid, block, shared_bytes, stream,
                          std::forward<Args>(args)...);
}

// Does what Launch() does: kernels run one after the other here.
template <typename... Params, typename... Args>
LaunchStatus LaunchDependent(void (*kernel)(Params...), const Grid& grid, const Block& block,
                             size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  return Launch(kernel, grid, block, shared_bytes, stream, std::forward<Args>(args)...);
}

// Does what Launch() does, with clusters of `cluster` blocks that are neighbours in x.
template <typename... Params, typename... Args>
LaunchStatus LaunchClusters(int cluster, void (*kernel)(Params...), const Grid& grid,
                            const Block& block, size_t shared_bytes, cudaStream_t stream,
                            Args&&... args) {
  return LaunchOfClusters(Grid{cluster}, kernel, grid, block, shared_bytes, stream,
                          std::forward<Args>(args)...);
}

// Does what LaunchClusters() does.
template <typename... Params, typename... Args>
LaunchStatus LaunchDependentClusters(int cluster, void (*kernel)(Params...), const Grid& grid,
                                     const Block& block, size_t shared_bytes, cudaStream_t stream,
                                     Args&&... args) {
  return LaunchClusters(cluster, kernel, grid, block, shared_bytes, stream,
                        std::forward<Args>(args)...);
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_
