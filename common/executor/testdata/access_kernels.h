// Kernels whose requests to memory are known lane by lane.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_ACCESS_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_ACCESS_KERNELS_H_

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise::executor {

inline constexpr int kAccessBlocks = 3;
inline constexpr int kAccessThreads = 64;  // Two warps a block.

// Each thread loads every second float of `in`, which has 1024, and stores it twice in shared
// memory; eight threads of each warp copy such a pair to `out`, which has two floats for each
// thread.
absl::Status LaunchAccesses(float* out, const float* in, cudaStream_t stream);

// The first half of a block's threads passes `rounds` times through a loop with one load.
absl::Status LaunchLoop(float* out, const float* in, int rounds, cudaStream_t stream);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_ACCESS_KERNELS_H_
