// A call of cuBLAS as the program made it: offered to Stridewise, or passed on to cuBLAS.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_CUBLAS_CALLS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_CUBLAS_CALLS_H_

#include <cublas_v2.h>

#include <cstdint>

#include "bindings/cublas/real_function.h"
#include "bindings/cublas/trial_timer.h"

namespace stridewise::drop_in {

// A product of matrices of float as cuBLAS takes it.
struct Gemm {
  const char* function;
  cublasHandle_t handle;
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  const void* alpha;
  const void* a;
  int64_t lda, stride_a;
  const void* b;
  int64_t ldb, stride_b;
  const void* beta;
  void* c;
  int64_t ldc, stride_c;
  int64_t batch;
};

// The types of a product of cublasGemmEx().
struct GemmTypes {
  cudaDataType a = CUDA_R_32F;
  cudaDataType b = CUDA_R_32F;
  cudaDataType c = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

// Offers the product. Does nothing within a call of cuBLAS of its own.
bool Offer(const Gemm& gemm, const GemmTypes& types = {});

// Offers C = A^T, which is all that we have of geam.
bool OfferGeam(const char* function, cublasHandle_t handle, cublasOperation_t op_a, int64_t m,
               int64_t n, const float* alpha, const float* a, int64_t lda, const float* beta,
               float* c, int64_t ldc);

// Calls the real function as the program called ours, whose parameters these are.
template <typename... Args>
cublasStatus_t PassOn(void* real, Args... args) {
  if (real == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const RealCall inside;
  const cublasStatus_t status = reinterpret_cast<cublasStatus_t (*)(Args...)>(real)(args...);
  EndTrial(status == CUBLAS_STATUS_SUCCESS);
  return status;
}

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_CUBLAS_CALLS_H_
