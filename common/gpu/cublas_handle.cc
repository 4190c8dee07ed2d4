#include "common/gpu/cublas_handle.h"

#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"

namespace stridewise {

absl::StatusOr<CublasHandle> CublasHandle::Create() {
  CublasHandle handle;
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasCreate(&handle.handle_)));
  return handle;
}

CublasHandle::~CublasHandle() {
  if (handle_ != nullptr) (void)cublasDestroy(handle_);
}

}  // namespace stridewise
