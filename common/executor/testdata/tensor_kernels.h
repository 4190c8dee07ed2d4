// One kernel for each instruction of tensor cores, for comparisons of its bits with a GPU's: it
// loads operands as they lie in memory, multiplies, and stores the sums.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_KERNELS_H_

#include <cstdint>
#include <vector>

#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_status.h"

namespace stridewise::executor {

// D = A * B + C of `products` independent products, a block for each. Rows of A and columns of B
// are `steps` times the instruction's k long, one after the other; an instruction adds to the sums
// of the one before. D and C are row by row, of 32 bits or FP16, and may be the same.
struct TensorOperands {
  const uint32_t* a;
  const uint32_t* b;
  const uint32_t* c;
  uint32_t* d;
  int products;
  int steps;
};

struct TensorKernel {
  const char* name;      // The instruction without types: "mma.m16n8k16".
  int m, n, words_of_k;  // Words of 32 bits in a row of A, or column of B, of one instruction.
  const char *sums, *a, *b;
  LaunchStatus (*launch)(const TensorOperands& operands, cudaStream_t stream);
};

const std::vector<TensorKernel>& TensorKernels();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_TENSOR_KERNELS_H_
