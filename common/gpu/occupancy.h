// The device that plans are made for, and the number of blocks of a kernel that it holds at once:
// the grid of a kernel with persistent blocks. Included by .cu files.

#ifndef STRIDEWISE_COMMON_GPU_OCCUPANCY_H_
#define STRIDEWISE_COMMON_GPU_OCCUPANCY_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"

#ifndef STRIDEWISE_HOST_EXECUTOR
#include "common/gpu/cuda_status.h"
#endif

namespace stridewise {

#ifdef STRIDEWISE_HOST_EXECUTOR
namespace executor {

// The host executor is a small device, unless the caller hands a kernel's launcher another model.
inline absl::StatusOr<DeviceModel> CurrentDeviceModel() { return SmallModel(); }

// Returns few blocks, so that those of a small test walk over several tiles each.
template <typename Kernel>
absl::StatusOr<int64_t> ResidentBlocks(Kernel* /*kernel*/, const Block& /*block*/,
                                       size_t /*shared_bytes*/) {
  return SmallModel().multiprocessors;
}

}  // namespace executor
using executor::CurrentDeviceModel;
using executor::ResidentBlocks;
#else
// Returns the model of the calling thread's device. All devices are asked once, at the first call;
// later calls take some ten nanoseconds.
absl::StatusOr<DeviceModel> CurrentDeviceModel();

// Returns the number of blocks of the kernel that the calling thread's device holds at once; at
// least 1 where the block can be launched at all. Takes a few microseconds: for kernels whose
// number of blocks on a multiprocessor is not known beforehand.
template <typename Kernel>
absl::StatusOr<int64_t> ResidentBlocks(Kernel* kernel, const Block& block, size_t shared_bytes) {
  ASSIGN_OR_RETURN(const DeviceModel device, CurrentDeviceModel());
  // As Launch() will: 0 blocks fit where more than 48 KB were not asked for.
  if (shared_bytes > kSharedBytesWithoutAsking) {
    RETURN_IF_CUDA_ERROR(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              static_cast<int>(shared_bytes)));
  }
  int blocks = 0;
  RETURN_IF_CUDA_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(block.x * block.y * block.z), shared_bytes));
  return int64_t{device.multiprocessors} * blocks;
}
#endif

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_OCCUPANCY_H_
