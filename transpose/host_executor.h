// Transposes and copies on the host executor: the kernels' own sources, compiled for the CPU.

#ifndef STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_
#define STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_

#include "absl/status/statusor.h"
#include "transpose/registry.h"

namespace stridewise {

// The same entry with a function that runs there, for RunTranspose(). Its arguments are pointers
// into memory of a executor::Executor, and that executor's stream(). Unimplemented, naming the
// entry, for what the host executor cannot run: libraries, and kernels of Executor::kDeviceOnly.
absl::StatusOr<TransposeImplementation> OnHostExecutor(
    const TransposeImplementation& implementation);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_
