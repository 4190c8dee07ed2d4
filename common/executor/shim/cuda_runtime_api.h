// What launchers in .cu files need of the runtime's C interface: errors, and the look-up of the
// driver's functions, of which the executor has one.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_

#include "cudaTypedefs.h"

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
};

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "error";
}

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
};
enum { cudaEnableDefault = 0 };

inline cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                    unsigned /*version*/,
                                                    unsigned long long /*flags*/,
                                                    cudaDriverEntryPointQueryResult* result) {
  const char* known = "cuTensorMapEncodeTiled";
  while (*known != 0 && *symbol == *known) {
    ++known;
    ++symbol;
  }
  const bool found = *known == 0 && *symbol == 0;
  *function = found ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_
