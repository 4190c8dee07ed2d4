// Functions of the CUDA driver, found at run time: only machines with a GPU have libcuda to link
// with.

#ifndef STRIDEWISE_COMMON_GPU_DRIVER_FUNCTION_H_
#define STRIDEWISE_COMMON_GPU_DRIVER_FUNCTION_H_

#include <cuda_runtime_api.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/gpu/cuda_status.h"

namespace stridewise {

// Returns the driver's function with this name and the signature of this version of CUDA, such as
// 12000. Unavailable if the driver has none.
template <typename Function>
absl::StatusOr<Function*> DriverFunction(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  RETURN_IF_CUDA_ERROR(
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found));
  if (found == cudaDriverEntryPointSuccess) return reinterpret_cast<Function*>(function);
  return absl::UnavailableError(absl::StrCat("the driver has no ", name));
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DRIVER_FUNCTION_H_
