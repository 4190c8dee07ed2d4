// Which kernels a call launches: what a library chose, and what our own dispatch did.

#ifndef STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_
#define STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"
#include "common/measure/gpu_timer.h"

namespace stridewise {

// The names (kernel_name.h) of the kernels that the work launches on the stream, one a launch, in
// the order of the launches. The work is captured into a graph and not executed; copies and fills
// have no name. Takes a fraction of a millisecond; not for timed code.
//
// Returns the work's error, Internal for work that cannot be captured (it waits for the stream,
// say) and Unavailable without a CUDA toolkit. The stream is as before in any case. REQUIRES: it is
// not the default stream, which cannot be captured.
absl::StatusOr<std::vector<std::string>> LaunchedKernels(const DeviceWork& work,
                                                         cudaStream_t stream);

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_LAUNCHED_KERNELS_H_
