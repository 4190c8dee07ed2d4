// What launchers in .cu files need of the runtime's C interface: errors, and the look-up of the
// driver's functions, of which the executor has none.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
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

inline cudaError_t cudaGetDriverEntryPointByVersion(const char* /*symbol*/, void** function,
                                                    unsigned /*version*/,
                                                    unsigned long long /*flags*/,
                                                    cudaDriverEntryPointQueryResult* result) {
  *function = nullptr;
  *result = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_CUDA_RUNTIME_API_H_
