#include "common/gpu/launched_kernels.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/driver_function.h"
#include "common/gpu/kernel_name.h"

namespace stridewise {
namespace {

absl::Status DriverStatus(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(call, ": error ", static_cast<int>(result)));
}

// Asks the driver: the runtime has no names for kernels of a library.
absl::StatusOr<std::string> KernelName(cudaGraphNode_t node) {
  ASSIGN_OR_RETURN(auto* get_params, DriverFunction<decltype(cuGraphKernelNodeGetParams)>(
                                         "cuGraphKernelNodeGetParams", 12000));
  ASSIGN_OR_RETURN(auto* name_of_function,
                   DriverFunction<decltype(cuFuncGetName)>("cuFuncGetName", 12030));
  ASSIGN_OR_RETURN(auto* name_of_kernel,
                   DriverFunction<decltype(cuKernelGetName)>("cuKernelGetName", 12030));
  CUDA_KERNEL_NODE_PARAMS params = {};
  RETURN_IF_ERROR(DriverStatus(get_params(node, &params), "cuGraphKernelNodeGetParams"));
  const char* name = nullptr;
  RETURN_IF_ERROR(params.func != nullptr
                      ? DriverStatus(name_of_function(&name, params.func), "cuFuncGetName")
                      : DriverStatus(name_of_kernel(&name, params.kern), "cuKernelGetName"));
  return ShortKernelName(name);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LaunchedKernels(const DeviceWork& work,
                                                         cudaStream_t stream) {
  // Relaxed: libraries load their modules and set attributes of kernels at the first use.
  ASSIGN_OR_RETURN(
      const CapturedGraph graph,
      CapturedGraph::Capture(stream, cudaStreamCaptureModeRelaxed, [&] { return work(stream); }));
  size_t count = 0;
  RETURN_IF_CUDA_ERROR(cudaGraphGetNodes(graph.get(), nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  // In the order in which they were captured.
  RETURN_IF_CUDA_ERROR(cudaGraphGetNodes(graph.get(), nodes.data(), &count));
  std::vector<std::string> names;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    RETURN_IF_CUDA_ERROR(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    ASSIGN_OR_RETURN(names.emplace_back(), KernelName(node));
  }
  return names;
}

}  // namespace stridewise
