#include "common/cublas_handle.h"

#include "common/cublas_status.h"
#include "common/status_macros.h"

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
