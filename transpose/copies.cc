// Two copies that are not kernels of this folder: the vectorised copy of common/gpu/device_ops.h,
// step 4 of the ladder, and the driver's.

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/device_ops.h"
#include "transpose/registry.h"

namespace stridewise {

// Copies one contiguous piece: it takes no rows with gaps between them.
LaunchStatus CopyVector(const TransposeArgs& args) {
  if (args.rows > 1 && (args.ld_in != args.cols || args.ld_out != args.cols)) {
    return absl::InvalidArgumentError(absl::StrCat("ld_in is ", args.ld_in, " and ld_out is ",
                                                   args.ld_out, "; allowed is ", args.cols,
                                                   ", rows without gaps"));
  }
  for (const void* data : {args.in, static_cast<const void*>(args.out)}) {
    if (reinterpret_cast<uintptr_t>(data) % 16 != 0) {
      return absl::InvalidArgumentError("in or out is not aligned; allowed are multiples of 16");
    }
  }
  const auto bytes = static_cast<size_t>(args.rows * args.cols * args.element_bytes);
  return CopyVectorised(args.out, args.in, bytes, args.stream);
}

LaunchStatus CopyMemcpy(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0) return absl::OkStatus();
  const auto size = static_cast<size_t>(args.element_bytes);
  const auto width = static_cast<size_t>(args.cols) * size;
  if (args.rows == 1 || (args.ld_in == args.cols && args.ld_out == args.cols)) {
    return CUDA_STATUS(cudaMemcpyAsync(args.out, args.in, width * static_cast<size_t>(args.rows),
                                       cudaMemcpyDeviceToDevice, args.stream));
  }
  return CUDA_STATUS(cudaMemcpy2DAsync(args.out, static_cast<size_t>(args.ld_out) * size, args.in,
                                       static_cast<size_t>(args.ld_in) * size, width,
                                       static_cast<size_t>(args.rows), cudaMemcpyDeviceToDevice,
                                       args.stream));
}

}  // namespace stridewise
