// Matrix products on the host executor: the kernels' own sources, compiled for the CPU.

#ifndef STRIDEWISE_MATMUL_HOST_EXECUTOR_H_
#define STRIDEWISE_MATMUL_HOST_EXECUTOR_H_

#include "absl/status/statusor.h"
#include "matmul/registry.h"

namespace stridewise {

// Returns the same entry with functions that run on the host executor, for RunMatMul() and
// MatMulWorkspaceBytes(). Its arguments are pointers into memory of an executor::Executor, and that
// executor's stream(). With args.device_model `auto` chooses what it chooses on that device, of the
// kernels that run here, and without what suits a small one. Returns Unimplemented, naming the
// entry, for what the host executor cannot run: libraries, and kernels of Executor::kDeviceOnly.
absl::StatusOr<MatMulImplementation> OnHostExecutor(const MatMulImplementation& implementation);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_HOST_EXECUTOR_H_
