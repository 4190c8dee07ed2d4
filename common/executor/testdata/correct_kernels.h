// Kernels without defects that use all functions of the executor, each with its expected results.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise::executor {

// 256 ints each; in[i] = 3 * i. `out` has been written only where `out_initialised`.
struct CorrectArgs {
  int* out;
  const int* in;
  cudaStream_t stream;
};

struct CorrectKernel {
  const char* name;
  bool out_initialised;  // With 0, because the kernel adds to it.
  absl::Status (*launch)(const CorrectArgs& args);
  int (*want)(int i);  // What out[i] must be.
};

std::vector<CorrectKernel> CorrectKernels();
std::vector<CorrectKernel> MatrixKernels();  // In matrix_kernels.cu.
std::vector<CorrectKernel> PtxKernels();     // In ptx_kernels.cu.

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_KERNELS_H_
