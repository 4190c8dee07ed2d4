// What the program told cuBLAS of its handles and cuBLAS does not tell us: their workspaces.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_HANDLES_H_
#define STRIDEWISE_BINDINGS_CUBLAS_HANDLES_H_

#include <cstdint>

#include "common/gpu/cuda_handles.h"

namespace stridewise::drop_in {

struct HandleWorkspace {
  void* data = nullptr;
  int64_t bytes = 0;
};

// Returns what cublasSetWorkspace() gave the handle since its last cublasSetStream(), which takes
// it away again; nothing for other handles. Safe to call from any thread.
HandleWorkspace WorkspaceOf(cublasHandle_t handle);
void SetWorkspaceOf(cublasHandle_t handle, const HandleWorkspace& workspace);
void ForgetWorkspaceOf(cublasHandle_t handle);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_HANDLES_H_
