// Owns a cuBLAS handle.

#ifndef STRIDEWISE_COMMON_GPU_CUBLAS_HANDLE_H_
#define STRIDEWISE_COMMON_GPU_CUBLAS_HANDLE_H_

#include <utility>

#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

class CublasHandle {
 public:
  // Creates a handle for the current device. Takes 0.1 s or more and some device memory: create one
  // and keep it. Returns Unavailable without a CUDA toolkit.
  static absl::StatusOr<CublasHandle> Create();

  CublasHandle() = default;
  CublasHandle(CublasHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CublasHandle& operator=(CublasHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~CublasHandle();  // NOLINT(performance-trivially-destructible): not trivial with a toolkit.

  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_CUBLAS_HANDLE_H_
