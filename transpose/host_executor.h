// Transposes and copies on the host executor: the kernels' own sources, compiled for the CPU.

#ifndef STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_
#define STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_

#include "absl/status/statusor.h"
#include "transpose/registry.h"

namespace stridewise {

// Returns the same entry with a function that runs on the host executor, for RunTranspose(). Its
// arguments are pointers into memory of an executor::Executor, and that executor's stream().
// Returns Unimplemented, naming the entry, for what the host executor cannot run: libraries, and
// kernels of Executor::kDeviceOnly.
absl::StatusOr<TransposeImplementation> OnHostExecutor(
    const TransposeImplementation& implementation);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_HOST_EXECUTOR_H_
