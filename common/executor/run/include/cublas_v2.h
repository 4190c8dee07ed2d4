// The part of cuBLAS that small programs compare with: products in FP64, and in FP32 of FP32, FP16
// and BF16 matrices, computed by plain loops on the host, in no particular order of additions.
// Nothing of it is checked or profiled.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLAS_V2_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLAS_V2_H_

#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#define CUBLAS_API_H_

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};
#ifndef SIMT_CUDA_DATA_TYPE
#define SIMT_CUDA_DATA_TYPE
enum cudaDataType_t { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
typedef cudaDataType_t cudaDataType;
#endif

SIMT_WRAPPER cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
SIMT_WRAPPER cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "failure";
}

// What is done to the scaled sums before they are rounded to the type of the result: a bias for
// each row is added, then the activation is applied.
struct SimtEpilogue {
  const void* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
  bool relu = false;
  bool gelu = false;  // The approximation with tanh.

  template <typename T>
  __attribute__((no_sanitize("coverage"))) T operator()(T value, int row) const {
    if (bias != nullptr) {
      value += bias_type == CUDA_R_16F ? static_cast<float>(static_cast<const __half*>(bias)[row])
               : bias_type == CUDA_R_16BF
                   ? static_cast<float>(static_cast<const __nv_bfloat16*>(bias)[row])
                   : static_cast<const float*>(bias)[row];
    }
    if (relu && value < 0) return 0;
    if (!gelu) return value;
    const double x = value;
    return static_cast<T>(0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
  }
};

// Column-major, as all of cuBLAS. The result is written with cudaMemcpy(), so that the executor
// knows that it is initialised.
template <typename T, typename Scale, typename C>
__attribute__((no_sanitize("coverage"))) cublasStatus_t SimtGemm(
    cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, Scale alpha, const T* a,
    int lda, const T* b, int ldb, Scale beta, C* c, int ldc,
    const SimtEpilogue& epilogue = SimtEpilogue()) {
  if (m < 0 || n < 0 || k < 0) return CUBLAS_STATUS_INVALID_VALUE;
  std::vector<Scale> factors(static_cast<size_t>(k));
  std::vector<Scale> column(static_cast<size_t>(m));
  std::vector<C> stored(static_cast<size_t>(m));
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < k; ++l) {
      factors[l] = op_b == CUBLAS_OP_N ? b[l + static_cast<size_t>(j) * ldb]
                                       : b[j + static_cast<size_t>(l) * ldb];
    }
    // In each of the two the innermost loop goes along a column.
    for (int i = 0; i < m; ++i) {
      const T* const from = a + static_cast<size_t>(i) * lda;
      Scale sum = 0;
      for (int l = 0; l < k && op_a != CUBLAS_OP_N; ++l) {
        sum += factors[l] * static_cast<Scale>(from[l]);
      }
      column[i] = sum;
    }
    for (int l = 0; l < k && op_a == CUBLAS_OP_N; ++l) {
      const T* const from = a + static_cast<size_t>(l) * lda;
      for (int i = 0; i < m; ++i) column[i] += factors[l] * static_cast<Scale>(from[i]);
    }
    C* to = c + static_cast<size_t>(j) * ldc;
    for (int i = 0; i < m; ++i) {
      const Scale old = beta == 0 ? Scale(0) : beta * static_cast<Scale>(to[i]);
      stored[i] = static_cast<C>(epilogue(alpha * column[i] + old, i));
    }
    if (cudaMemcpy(to, stored.data(), m * sizeof(C), cudaMemcpyDefault) != cudaSuccess) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

SIMT_WRAPPER cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, int k,
                                        const float* alpha, const float* a, int lda, const float* b,
                                        int ldb, const float* beta, float* c, int ldc) {
  return SimtGemm(op_a, op_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}
SIMT_WRAPPER cublasStatus_t cublasDgemm(cublasHandle_t, cublasOperation_t op_a,
                                        cublasOperation_t op_b, int m, int n, int k,
                                        const double* alpha, const double* a, int lda,
                                        const double* b, int ldb, const double* beta, double* c,
                                        int ldc) {
  return SimtGemm(op_a, op_b, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}
// A vector of `n` elements with a distance of `step` as a matrix of one row, or of one column where
// they are neighbours: op(A) times it.
SIMT_WRAPPER cublasStatus_t cublasSgemv(cublasHandle_t, cublasOperation_t op_a, int m, int n,
                                        const float* alpha, const float* a, int lda, const float* x,
                                        int step_x, const float* beta, float* y, int step_y) {
  if (step_x < 1 || step_y != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool plain = op_a == CUBLAS_OP_N;
  return SimtGemm(op_a, CUBLAS_OP_T, plain ? m : n, 1, plain ? n : m, *alpha, a, lda, x, step_x,
                  *beta, y, plain ? m : n);
}
SIMT_WRAPPER cublasStatus_t cublasSgemmStridedBatched(
    cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
    long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int batch) {
  for (int i = 0; i < batch; ++i) {
    const cublasStatus_t status = SimtGemm(op_a, op_b, m, n, k, *alpha, a + i * stride_a, lda,
                                           b + i * stride_b, ldb, *beta, c + i * stride_c, ldc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
// Of FP32, FP16 and BF16 elements; any compute type is FP32.
template <typename T, typename C>
__attribute__((no_sanitize("coverage"))) cublasStatus_t SimtGemmOf(
    cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, float alpha, const void* a,
    int lda, const void* b, int ldb, float beta, void* c, int ldc, const SimtEpilogue& epilogue) {
  return SimtGemm(op_a, op_b, m, n, k, alpha, static_cast<const T*>(a), lda,
                  static_cast<const T*>(b), ldb, beta, static_cast<C*>(c), ldc, epilogue);
}
SIMT_WRAPPER float SimtScale(const void* scale, cublasComputeType_t type) {
  if (type == CUBLAS_COMPUTE_16F) return static_cast<float>(*static_cast<const __half*>(scale));
  return *static_cast<const float*>(scale);
}
SIMT_WRAPPER cublasStatus_t SimtGemmOfTypes(cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                            int n, int k, float alpha, const void* a,
                                            cudaDataType type_a, int lda, long long stride_a,
                                            const void* b, cudaDataType type_b, int ldb,
                                            long long stride_b, float beta, void* c,
                                            cudaDataType type_c, int ldc, long long stride_c,
                                            int batch, const SimtEpilogue& epilogue) {
  struct Case {
    cudaDataType ab, c;
    size_t ab_bytes, c_bytes;
    decltype(&SimtGemmOf<float, float>) gemm;
  };
  static const Case cases[] = {
      {CUDA_R_32F, CUDA_R_32F, 4, 4, SimtGemmOf<float, float>},
      {CUDA_R_16F, CUDA_R_16F, 2, 2, SimtGemmOf<__half, __half>},
      {CUDA_R_16F, CUDA_R_32F, 2, 4, SimtGemmOf<__half, float>},
      {CUDA_R_16BF, CUDA_R_16BF, 2, 2, SimtGemmOf<__nv_bfloat16, __nv_bfloat16>},
      {CUDA_R_16BF, CUDA_R_32F, 2, 4, SimtGemmOf<__nv_bfloat16, float>},
  };
  for (const Case& each : cases) {
    if (each.ab != type_a || each.ab != type_b || each.c != type_c) continue;
    for (int i = 0; i < batch; ++i) {
      const cublasStatus_t status = each.gemm(
          op_a, op_b, m, n, k, alpha, static_cast<const char*>(a) + i * stride_a * each.ab_bytes,
          lda, static_cast<const char*>(b) + i * stride_b * each.ab_bytes, ldb, beta,
          static_cast<char*>(c) + i * stride_c * each.c_bytes, ldc, epilogue);
      if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
SIMT_WRAPPER cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a,
    const void* b, cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType type_c, int ldc, long long stride_c, int batch, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return SimtGemmOfTypes(op_a, op_b, m, n, k, SimtScale(alpha, compute), a, type_a, lda, stride_a,
                         b, type_b, ldb, stride_b, SimtScale(beta, compute), c, type_c, ldc,
                         stride_c, batch, SimtEpilogue());
}
SIMT_WRAPPER cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const void* alpha, const void* a, cudaDataType type_a,
                                         int lda, const void* b, cudaDataType type_b, int ldb,
                                         const void* beta, void* c, cudaDataType type_c, int ldc,
                                         cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                    type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}
// The type of computation named by a type of data, as before CUDA 11.
SIMT_WRAPPER cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const void* alpha, const void* a, cudaDataType type_a,
                                         int lda, const void* b, cudaDataType type_b, int ldb,
                                         const void* beta, void* c, cudaDataType type_c, int ldc,
                                         cudaDataType compute, cublasGemmAlgo_t algorithm) {
  if (compute != CUDA_R_32F && compute != CUDA_R_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F,
                      algorithm);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLAS_V2_H_
