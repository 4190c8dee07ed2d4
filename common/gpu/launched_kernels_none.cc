// launched_kernels.h in a build without a CUDA toolkit.

#include "common/gpu/launched_kernels.h"

namespace stridewise {

absl::StatusOr<std::vector<std::string>> LaunchedKernels(const DeviceWork& /*work*/,
                                                         cudaStream_t /*stream*/) {
  return absl::UnavailableError("built without a CUDA toolkit");
}

}  // namespace stridewise
