// Turns CUDA runtime errors into absl::Status. For files that are compiled with a CUDA toolkit.

#ifndef STRIDEWISE_COMMON_GPU_CUDA_STATUS_H_
#define STRIDEWISE_COMMON_GPU_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {

// Returns the code of what CudaStatus() returns for an error.
inline absl::StatusCode CodeOfCudaError(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return absl::StatusCode::kResourceExhausted;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Returns OK for cudaSuccess, and otherwise a status that names the call, the file and the line:
// kResourceExhausted for out of memory, kUnavailable for no device, no driver or a device that the
// program was not built for, and kInternal for the rest. Clears the runtime's last error, so that
// the next call does not return it again.
inline absl::Status CudaStatus(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return absl::OkStatus();
  (void)cudaGetLastError();
  const char* const what_to_do = error == cudaErrorNoKernelImageForDevice
                                     ? "; the build's flag --cuda_archs names the GPUs to build for"
                                     : "";
  return absl::Status(CodeOfCudaError(error), absl::StrCat(call, ": ", cudaGetErrorString(error),
                                                           what_to_do, " (", file, ":", line, ")"));
}

}  // namespace stridewise

// Evaluates a call of the CUDA runtime to an absl::Status.
#define CUDA_STATUS(call) ::stridewise::CudaStatus((call), #call, __FILE__, __LINE__)

// Returns from the enclosing function if the call fails.
#define RETURN_IF_CUDA_ERROR(call)                                             \
  do {                                                                         \
    if (absl::Status status_of_call = CUDA_STATUS(call); !status_of_call.ok()) \
      return status_of_call;                                                   \
  } while (false)

#endif  // STRIDEWISE_COMMON_GPU_CUDA_STATUS_H_
