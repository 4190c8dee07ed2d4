// The functions of cuBLAS that the drop-in defines. Each offers its call and passes it on, as it
// came, if it is not taken; what only tells cuBLAS of a handle is noted and passed on.

#include <cublas_v2.h>

#include <cstddef>
#include <cstdint>

#include "bindings/cublas/cublas_calls.h"
#include "bindings/cublas/handles.h"
#include "bindings/cublas/offer.h"
#include "bindings/cublas/real_function.h"

using stridewise::drop_in::Gemm;
using stridewise::drop_in::GemmTypes;
using stridewise::drop_in::Offer;
using stridewise::drop_in::OfferGeam;
using stridewise::drop_in::PassOn;

extern "C" {

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  stridewise::drop_in::ForgetWorkspaceOf(handle);
  stridewise::drop_in::ForgetOwner(handle);
  return PassOn(STRIDEWISE_REAL_ADDRESS(cublasDestroy_v2, kCublas), handle);
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  stridewise::drop_in::ForgetWorkspaceOf(handle);
  return PassOn(STRIDEWISE_REAL_ADDRESS(cublasSetStream_v2, kCublas), handle, stream);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  const cublasStatus_t status =
      PassOn(STRIDEWISE_REAL_ADDRESS(cublasSetWorkspace_v2, kCublas), handle, workspace, bytes);
  if (status == CUBLAS_STATUS_SUCCESS) {
    stridewise::drop_in::SetWorkspaceOf(handle, {workspace, static_cast<int64_t>(bytes)});
  }
  return status;
}

// Int is int or int64_t, with which the name ends.
#define STRIDEWISE_SGEMM(name, Int)                                                              \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,     \
                      Int m, Int n, Int k, const float* alpha, const float* a, Int lda,          \
                      const float* b, Int ldb, const float* beta, float* c, Int ldc) {           \
    if (Offer({#name, handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, \
               1})) {                                                                            \
      return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                            \
    return PassOn(STRIDEWISE_REAL_ADDRESS(name, kCublas), handle, op_a, op_b, m, n, k, alpha, a, \
                  lda, b, ldb, beta, c, ldc);                                                    \
  }
STRIDEWISE_SGEMM(cublasSgemm_v2, int)
STRIDEWISE_SGEMM(cublasSgemm_v2_64, int64_t)

#define STRIDEWISE_SGEMM_BATCH(name, Int)                                                        \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,     \
                      Int m, Int n, Int k, const float* alpha, const float* a, Int lda,          \
                      long long int stride_a, const float* b, Int ldb, long long int stride_b,   \
                      const float* beta, float* c, Int ldc, long long int stride_c, Int batch) { \
    if (Offer({#name, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,    \
               beta, c, ldc, stride_c, batch})) {                                                \
      return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                            \
    return PassOn(STRIDEWISE_REAL_ADDRESS(name, kCublas), handle, op_a, op_b, m, n, k, alpha, a, \
                  lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);               \
  }
STRIDEWISE_SGEMM_BATCH(cublasSgemmStridedBatched, int)
STRIDEWISE_SGEMM_BATCH(cublasSgemmStridedBatched_64, int64_t)

#define STRIDEWISE_GEMM_EX(name, Int)                                                              \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,       \
                      Int m, Int n, Int k, const void* alpha, const void* a, cudaDataType type_a,  \
                      Int lda, const void* b, cudaDataType type_b, Int ldb, const void* beta,      \
                      void* c, cudaDataType type_c, Int ldc, cublasComputeType_t compute,          \
                      cublasGemmAlgo_t algo) {                                                     \
    if (Offer(                                                                                     \
            {#name, handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1}, \
            {type_a, type_b, type_c, compute})) {                                                  \
      return CUBLAS_STATUS_SUCCESS;                                                                \
    }                                                                                              \
    return PassOn(STRIDEWISE_REAL_ADDRESS(name, kCublas), handle, op_a, op_b, m, n, k, alpha, a,   \
                  type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute, algo);               \
  }
STRIDEWISE_GEMM_EX(cublasGemmEx, int)
STRIDEWISE_GEMM_EX(cublasGemmEx_64, int64_t)

#define STRIDEWISE_GEMM_EX_BATCH(name, Int)                                                        \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,       \
                      Int m, Int n, Int k, const void* alpha, const void* a, cudaDataType type_a,  \
                      Int lda, long long int stride_a, const void* b, cudaDataType type_b,         \
                      Int ldb, long long int stride_b, const void* beta, void* c,                  \
                      cudaDataType type_c, Int ldc, long long int stride_c, Int batch,             \
                      cublasComputeType_t compute, cublasGemmAlgo_t algo) {                        \
    if (Offer({#name, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,      \
               beta, c, ldc, stride_c, batch},                                                     \
              {type_a, type_b, type_c, compute})) {                                                \
      return CUBLAS_STATUS_SUCCESS;                                                                \
    }                                                                                              \
    return PassOn(STRIDEWISE_REAL_ADDRESS(name, kCublas), handle, op_a, op_b, m, n, k, alpha, a,   \
                  type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, \
                  batch, compute, algo);                                                           \
  }
STRIDEWISE_GEMM_EX_BATCH(cublasGemmStridedBatchedEx, int)
STRIDEWISE_GEMM_EX_BATCH(cublasGemmStridedBatchedEx_64, int64_t)

#define STRIDEWISE_SGEAM(name, Int)                                                                \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,       \
                      Int m, Int n, const float* alpha, const float* a, Int lda,                   \
                      const float* beta, const float* b, Int ldb, float* c, Int ldc) {             \
    if (OfferGeam(#name, handle, op_a, m, n, alpha, a, lda, beta, c, ldc)) {                       \
      return CUBLAS_STATUS_SUCCESS;                                                                \
    }                                                                                              \
    return PassOn(STRIDEWISE_REAL_ADDRESS(name, kCublas), handle, op_a, op_b, m, n, alpha, a, lda, \
                  beta, b, ldb, c, ldc);                                                           \
  }
STRIDEWISE_SGEAM(cublasSgeam, int)
STRIDEWISE_SGEAM(cublasSgeam_64, int64_t)

}  // extern "C"
