// Launchers for launch_gpu_test: __global__ functions need nvcc, GoogleTest does not.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCH_TEST_KERNELS_H_
#define STRIDEWISE_COMMON_GPU_LAUNCH_TEST_KERNELS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise {

// Adds 1 to counts[row] for every row of tiles, with one block for each.
absl::Status CountRows(int32_t* counts, int64_t rows, cudaStream_t stream);

// Writes `value` through `shared_bytes` of dynamic shared memory.
absl::Status WriteThroughShared(int32_t* out, int32_t value, const Grid& grid, const Block& block,
                                size_t shared_bytes, cudaStream_t stream);

// Writes `value` through `shared_bytes` of dynamic shared memory and kStaticSharedBytes of static.
inline constexpr size_t kStaticSharedBytes = 4096;
absl::Status WriteThroughBoth(int32_t* out, int32_t value, size_t shared_bytes,
                              cudaStream_t stream);

// Sets the limit of WriteThroughShared() to its default, as cudaDeviceReset() might.
absl::Status LoseSharedLimit();

// Sets out[i] to 2 * values[i] + 1 for `count` elements, through `between`: a kernel with some slow
// blocks, and a dependent one.
absl::Status DoubleAndAddOne(const int32_t* values, int64_t count, int32_t* between, int32_t* out,
                             cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCH_TEST_KERNELS_H_
