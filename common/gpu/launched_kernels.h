// Finds out which kernels a call launches, for cuBLAS as for our own dispatch.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_
#define STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"
#include "common/measure/gpu_timer.h"

namespace stridewise {

// Returns the names (kernel_name.h) of the kernels that the work launches on the stream, one for
// each launch, in order. The work is captured into a graph and not executed; copies and fills have
// no name. Takes a fraction of a millisecond; not for timed code.
//
// Returns the work's error, Internal for work that cannot be captured (because it waits for the
// stream, say) and Unavailable without a CUDA toolkit. The stream is left as it was. REQUIRES:
// `stream` is not the default stream, which cannot be captured.
absl::StatusOr<std::vector<std::string>> LaunchedKernels(const DeviceWork& work,
                                                         cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_
