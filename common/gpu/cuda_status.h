// Turns CUDA runtime errors into absl::Status. For files that are compiled with a CUDA toolkit.

#ifndef STRIDEWISE_COMMON_GPU_CUDA_STATUS_H_
#define STRIDEWISE_COMMON_GPU_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {

// Returns OK for cudaSuccess, and otherwise a status that names the call, the file and the line:
// kResourceExhausted for out of memory, kUnavailable for no device or no driver, and kInternal for
// the rest. Clears the runtime's last error, so that the next call does not return it again.
inline absl::Status CudaStatus(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return absl::OkStatus();
  (void)cudaGetLastError();
  const absl::StatusCode code = error == cudaErrorMemoryAllocation
                                    ? absl::StatusCode::kResourceExhausted
                                : error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver
                                    ? absl::StatusCode::kUnavailable
                                    : absl::StatusCode::kInternal;
  return absl::Status(
      code, absl::StrCat(call, ": ", cudaGetErrorString(error), " (", file, ":", line, ")"));
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
