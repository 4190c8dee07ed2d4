#include "common/gpu/launch.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/kernel_state.h"

namespace stridewise {
namespace {

// The blocks of a cluster that every GPU with clusters takes; more must be asked for.
constexpr int kPortableClusterBlocks = 8;

dim3 ToDim3(const Extent3& e) {
  return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
}

absl::Status WithKernelName(const void* kernel, const absl::Status& status) {
  const char* name = nullptr;
  if (cudaFuncGetName(&name, kernel) != cudaSuccess || name == nullptr) {
    (void)cudaGetLastError();
    name = "kernel";
  }
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

// Returns what comes of raising the kernel's limit of shared memory.
absl::Status LimitStatus(const void* kernel, size_t shared_bytes, cudaError_t error) {
  if (CudaStatus(error, "cudaFuncSetAttribute", __FILE__, __LINE__).ok()) return absl::OkStatus();
  return WithKernelName(kernel, absl::InvalidArgumentError(
                                    absl::StrCat("shared memory is ", shared_bytes,
                                                 " bytes, more than the device has for a block")));
}

}  // namespace

bool IsCompiledForSm90(const void* kernel) { return CodeOf(kernel).compute_capability >= 90; }

LaunchStatus LaunchUntyped(const void* kernel, const Grid& grid, const Block& block,
                           size_t shared_bytes, cudaStream_t stream, Begin begin, int cluster,
                           void** arguments) {
  absl::Status status = CheckLaunchGeometry(grid, block);
  if (!status.ok()) return WithKernelName(kernel, status);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return absl::OkStatus();
  KernelLaunch launch;
  if (shared_bytes > 0 || begin == Begin::kDuringPrevious) {
    launch = PrepareLaunch(kernel, shared_bytes);
    RETURN_IF_ERROR(LimitStatus(kernel, shared_bytes, launch.error));
  }
  if (cluster > kPortableClusterBlocks) {
    status = CUDA_STATUS(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    if (!status.ok()) return WithKernelName(kernel, status);
  }
  cudaLaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  }
  if (begin == Begin::kDuringPrevious && launch.code.compute_capability >= 90) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = ToDim3(grid);
  config.blockDim = ToDim3(block);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
  if (error == cudaErrorInvalidValue && launch.asks) {
    // The device was reset, or the context is another one: the limit is the default again.
    (void)cudaGetLastError();
    RETURN_IF_ERROR(
        LimitStatus(kernel, shared_bytes, RaiseSharedLimit(kernel, shared_bytes, /*again=*/true)));
    error = cudaLaunchKernelExC(&config, kernel, arguments);
  }
  status = CudaStatus(error, "cudaLaunchKernelExC", __FILE__, __LINE__);
  return status.ok() ? status : WithKernelName(kernel, status);
}

}  // namespace stridewise
