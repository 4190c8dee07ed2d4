// Turns cuBLAS errors into absl::Status. For files that are compiled with a CUDA toolkit.

#ifndef STRIDEWISE_COMMON_GPU_CUBLAS_STATUS_H_
#define STRIDEWISE_COMMON_GPU_CUBLAS_STATUS_H_

#include <cublas_v2.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace stridewise {

// Returns OK for success, and otherwise a status that names the call, the file and the line:
// kResourceExhausted for out of memory and kInternal for the rest. Clears the error that the
// library may have left as the CUDA runtime's last error.
inline absl::Status CublasStatus(cublasStatus_t error, const char* call, const char* file,
                                 int line) {
  if (error == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  (void)cudaGetLastError();
  const absl::StatusCode code = error == CUBLAS_STATUS_ALLOC_FAILED
                                    ? absl::StatusCode::kResourceExhausted
                                    : absl::StatusCode::kInternal;
  return absl::Status(
      code, absl::StrCat(call, ": ", cublasGetStatusString(error), " (", file, ":", line, ")"));
}

}  // namespace stridewise

// Evaluates a call of cuBLAS to an absl::Status.
#define CUBLAS_STATUS(call) ::stridewise::CublasStatus((call), #call, __FILE__, __LINE__)

#endif  // STRIDEWISE_COMMON_GPU_CUBLAS_STATUS_H_
