// The device's part of scale_sweep.cc.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_TEST_SCALE_KERNEL_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_TEST_SCALE_KERNEL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

// Returns a function that queues y = 2 x, or null where the build has no CUDA toolkit.
absl::Status (*ScaleOnDevice())(const float* x, float* y, int64_t n, cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_TEST_SCALE_KERNEL_H_
