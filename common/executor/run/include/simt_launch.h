// What kernel<<<...>>>(...) becomes.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_LAUNCH_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_LAUNCH_H_

#include <tuple>
#include <type_traits>
#include <utility>

#include "simt_runtime_api.h"

#define SIMT_UNSEEN __attribute__((no_sanitize("coverage")))
#define SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace simt_cuda {

struct LaunchConfig {
  LaunchConfig(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared_bytes(shared_bytes), stream(stream) {}
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
  dim3 cluster = dim3(1, 1, 1);
};

struct LaunchPlace {
  const char* name;
  const char* file;
  int line;
};

// What is the same for many launches is a function of its own, once and not inlined: a program may
// have hundreds of them, and they would be most of its code.
#define SIMT_ONCE SIMT_UNSEEN __attribute__((noinline))

SIMT_ONCE inline SimtLaunchRequest RequestOf(const LaunchConfig& config, const LaunchPlace& place) {
  return {{config.grid.x, config.grid.y, config.grid.z},
          {config.block.x, config.block.y, config.block.z},
          {config.cluster.x, config.cluster.y, config.cluster.z},
          config.shared_bytes,
          config.stream,
          place.name,
          place.file,
          place.line,
          0,
          nullptr,
          nullptr,
          nullptr,
          0};
}

template <typename Function, typename Tuple, size_t... kI>
SIMT_UNSEEN SIMT_INLINE void CallWith(const Function& function, Tuple& values,
                                      std::index_sequence<kI...>) {
  function(std::get<kI>(values)...);
}

// Calls `function(values...)` in each thread.
template <typename Function, typename Tuple>
cudaError_t RunLaunch(SimtLaunchRequest request, Function function, Tuple values) {
  struct Arguments {
    Function function;
    Tuple values;
    SIMT_UNSEEN static void Run(void* pointer) {
      auto* a = static_cast<Arguments*>(pointer);
      CallWith(a->function, a->values, std::make_index_sequence<std::tuple_size<Tuple>::value>());
    }
  } arguments{function, std::move(values)};
  request.run = &Arguments::Run;
  request.arguments = &arguments;
  request.arguments_bytes = sizeof(arguments);
  return simt_run_launch(&request);
}

// A kernel whose type is known: the arguments convert to its parameters. It is the same for all
// kernels with these.
template <typename... Params>
struct KernelOfParams {
  LaunchConfig config;
  LaunchPlace place;
  void (*kernel)(Params...);

  SIMT_UNSEEN SimtLaunchRequest Request() const {
    SimtLaunchRequest request = RequestOf(config, place);
    request.kernel = reinterpret_cast<const void*>(kernel);
    return request;
  }
  SIMT_ONCE void operator()(Params... values) const {
    RunLaunch(Request(), kernel, std::tuple<Params...>(std::move(values)...));
  }
};

template <typename Deduced, typename... Params>
struct TypedKernel : KernelOfParams<Params...> {
  Deduced deduced;

  using KernelOfParams<Params...>::operator();
  // With default arguments.
  template <typename... Values,
            typename = std::enable_if_t<(sizeof...(Values) < sizeof...(Params))>>
  void operator()(const Values&... values) const {
    RunLaunch(this->Request(), deduced, std::tuple<std::decay_t<Values>...>(values...));
  }
};

// A kernel whose template arguments, or which of several overloads it is, follow from the
// arguments.
template <typename Deduced>
struct DeducedKernel {
  LaunchConfig config;
  LaunchPlace place;
  Deduced deduced;

  template <typename... Values>
  void operator()(const Values&... values) const {
    RunLaunch(RequestOf(config, place), deduced, std::tuple<std::decay_t<Values>...>(values...));
  }
};

struct Probe {
  template <typename... Params>
  auto operator()(void (*kernel)(Params...)) const {
    return kernel;
  }
};

template <typename Deduced, typename... Params>
SIMT_UNSEEN TypedKernel<Deduced, Params...> Typed(const LaunchConfig& config,
                                                  const LaunchPlace& place,
                                                  void (*kernel)(Params...),
                                                  const Deduced& deduced) {
  return {{config, place, kernel}, deduced};
}

template <typename Resolve, typename Deduced>
SIMT_UNSEEN auto Launch(const LaunchConfig& config, const char* name, const char* file, int line,
                        const Resolve& resolve, const Deduced& deduced) {
  const LaunchPlace place{name, file, line};
  if constexpr (std::is_invocable<const Resolve&, Probe>::value) {
    return Typed(config, place, resolve(Probe()), deduced);
  } else {
    return DeducedKernel<Deduced>{config, place, deduced};
  }
}

template <typename... Params, size_t... kI>
cudaError_t LaunchPointers(const LaunchConfig& config, const LaunchPlace& place,
                           void (*kernel)(Params...), void** values, int cooperative,
                           std::index_sequence<kI...>) {
  SimtLaunchRequest request = RequestOf(config, place);
  request.kernel = reinterpret_cast<const void*>(kernel);
  request.cooperative = cooperative;
  return RunLaunch(request, kernel, std::tuple<Params...>(*static_cast<Params*>(values[kI])...));
}

// What __cluster_dims__(x, y, z) becomes: whether the launch that runs has another cluster.
static SIMT_UNSEEN SIMT_INLINE bool OtherCluster(unsigned x, unsigned y = 1, unsigned z = 1) {
  return simt_run_other_cluster(x, y, z) != 0;
}

}  // namespace simt_cuda

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

namespace simt_cuda {

// Of the attributes those count that change what a kernel may do: clusters and cooperation. Kernels
// run one after the other, whatever their priorities.
inline LaunchConfig WithAttributes(const cudaLaunchConfig_t* config, int* cooperative) {
  LaunchConfig launch(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
  *cooperative = 0;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) *cooperative = attribute.val.cooperative;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      launch.cluster = dim3(cluster.x, cluster.y, cluster.z);
    }
  }
  return launch;
}

}  // namespace simt_cuda

template <typename... Params, typename... Values>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                               Values&&... values) {
  static_assert(sizeof...(Params) == sizeof...(Values), "one value for each parameter");
  int cooperative;
  const simt_cuda::LaunchConfig launch = simt_cuda::WithAttributes(config, &cooperative);
  SimtLaunchRequest request = simt_cuda::RequestOf(launch, {"", "", 0});
  request.kernel = reinterpret_cast<const void*>(kernel);
  request.cooperative = cooperative;
  return simt_cuda::RunLaunch(request, kernel,
                              std::tuple<Params...>(std::forward<Values>(values)...));
}

template <typename... Params>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                void** values, SIMT_PLACE) {
  int cooperative;
  const simt_cuda::LaunchConfig launch = simt_cuda::WithAttributes(config, &cooperative);
  return simt_cuda::LaunchPointers(launch, {"", file, line}, kernel, values, cooperative,
                                   std::index_sequence_for<Params...>());
}
__attribute__((unavailable(
    "the host executor needs the kernel's type: pass the kernel and not a void pointer")))
cudaError_t
cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** values);

template <typename... Params>
cudaError_t cudaLaunchKernel(void (*kernel)(Params...), dim3 grid, dim3 block, void** values,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr, SIMT_PLACE) {
  return simt_cuda::LaunchPointers(simt_cuda::LaunchConfig(grid, block, shared_bytes, stream),
                                   {"", file, line}, kernel, values, 0,
                                   std::index_sequence_for<Params...>());
}
__attribute__((unavailable(
    "the host executor needs the kernel's type: pass the kernel and not a void pointer")))
cudaError_t
cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** values, size_t shared_bytes = 0,
                 cudaStream_t stream = nullptr);

template <typename... Params>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Params...), dim3 grid, dim3 block,
                                        void** values, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr, SIMT_PLACE) {
  return simt_cuda::LaunchPointers(simt_cuda::LaunchConfig(grid, block, shared_bytes, stream),
                                   {"", file, line}, kernel, values, 1,
                                   std::index_sequence_for<Params...>());
}
__attribute__((unavailable(
    "the host executor needs the kernel's type: pass the kernel and not a void pointer")))
cudaError_t
cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** values,
                            size_t shared_bytes = 0, cudaStream_t stream = nullptr);

#undef SIMT_PLACE
#undef SIMT_ONCE
#undef SIMT_UNSEEN

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_LAUNCH_H_
