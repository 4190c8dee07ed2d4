// Kernels whose blocks publish memory to each other by fences and atomic operations, rightly and
// wrongly.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PUBLISHING_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PUBLISHING_KERNELS_H_

#include <vector>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise::executor {

struct PublishingKernel {
  const char* name;
  bool correct;
  // `data` and `counters` have 256 elements each that are 0.
  absl::Status (*launch)(float* data, unsigned* counters, cudaStream_t stream);
};

std::vector<PublishingKernel> PublishingKernels();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_PUBLISHING_KERNELS_H_
