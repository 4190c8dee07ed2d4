// cublas_handle.h in a build without a CUDA toolkit.

#include "common/gpu/cublas_handle.h"

namespace stridewise {

absl::StatusOr<CublasHandle> CublasHandle::Create() {
  return absl::UnavailableError("built without a CUDA toolkit");
}

CublasHandle::~CublasHandle() = default;

}  // namespace stridewise
