// Launch() for kernels compiled for the host executor: common/gpu/launch.h includes this header in
// place of its own functions. Arguments and errors are the same; the kernel has ended when it
// returns.

#ifndef STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_
#define STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_

#include <cstddef>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "common/executor/executor.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

template <typename... Params, typename... Args>
absl::Status Launch(void (*kernel)(Params...), const Grid& grid, const Block& block,
                    size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "one argument for each parameter");
  struct Arguments {
    void (*kernel)(Params...);
    std::tuple<Params...> values;
  } arguments{kernel, std::tuple<Params...>(std::forward<Args>(args)...)};
  executor::KernelCall call;
  call.kernel = reinterpret_cast<uintptr_t>(kernel);
  call.run = [](void* pointer) {
    auto* a = static_cast<Arguments*>(pointer);
    std::apply(a->kernel, a->values);
  };
  call.arguments = &arguments;
  call.arguments_bytes = sizeof(arguments);
  return executor::ExecutorOfStream(stream)->Run(call, grid, block, shared_bytes);
}

// Does what Launch() does: kernels run one after the other here.
template <typename... Params, typename... Args>
absl::Status LaunchDependent(void (*kernel)(Params...), const Grid& grid, const Block& block,
                             size_t shared_bytes, cudaStream_t stream, Args&&... args) {
  return Launch(kernel, grid, block, shared_bytes, stream, std::forward<Args>(args)...);
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_LAUNCH_H_
