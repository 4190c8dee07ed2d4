// How many blocks of a kernel the device holds at once: the grid of a kernel whose blocks stay.
// Included by .cu files.

#ifndef STRIDEWISE_COMMON_GPU_OCCUPANCY_H_
#define STRIDEWISE_COMMON_GPU_OCCUPANCY_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/launch_geometry.h"

#ifndef STRIDEWISE_HOST_EXECUTOR
#include "common/gpu/cuda_status.h"
#endif

namespace stridewise {

#ifdef STRIDEWISE_HOST_EXECUTOR
namespace executor {

// So few that the blocks of a small test walk over several tiles each.
template <typename Kernel>
absl::StatusOr<int64_t> ResidentBlocks(Kernel* /*kernel*/, const Block& /*block*/,
                                       size_t /*shared_bytes*/) {
  return 4;
}

}  // namespace executor
using executor::ResidentBlocks;
#else
// For the current device; at least 1 where the block can be launched at all. A few microseconds.
template <typename Kernel>
absl::StatusOr<int64_t> ResidentBlocks(Kernel* kernel, const Block& block, size_t shared_bytes) {
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  // As Launch() will: 0 blocks fit where more than 48 KB were not asked for.
  if (shared_bytes > kSharedBytesWithoutAsking) {
    RETURN_IF_CUDA_ERROR(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(shared_bytes)));
  }
  RETURN_IF_CUDA_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(block.x * block.y * block.z), shared_bytes));
  return static_cast<int64_t>(multiprocessors) * blocks;
}
#endif

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_OCCUPANCY_H_
