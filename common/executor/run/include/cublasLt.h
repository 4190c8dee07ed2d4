// The part of cuBLASLt that products with a bias and an activation use, computed on the host as
// those of cublas_v2.h are: column-major matrices of FP32, FP16 and BF16, sums in FP32. What is not
// declared here, the compiler names where it is used.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_

#include <cstring>

#include "cublas_v2.h"

struct SimtCublasLtContext;
typedef SimtCublasLtContext* cublasLtHandle_t;

enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };

struct SimtMatmulDesc {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t op_a = CUBLAS_OP_N;
  cublasOperation_t op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int bias_type = -1;  // That of the result.
};
struct SimtMatrixLayout {
  cudaDataType type;
  uint64_t rows, cols;
  int64_t ld;
  int batch = 1;
  int64_t stride = 0;  // Elements from one matrix of the batch to the next.
};
struct SimtMatmulPreference {};
typedef SimtMatmulDesc* cublasLtMatmulDesc_t;
typedef SimtMatrixLayout* cublasLtMatrixLayout_t;
typedef SimtMatmulPreference* cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t {
  uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

SIMT_WRAPPER cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

SIMT_WRAPPER cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc,
                                                     cublasComputeType_t compute, cudaDataType) {
  *desc = new SimtMatmulDesc();
  (*desc)->compute = compute;
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
// Copies a value whose size the caller says to a place of that size.
template <typename T>
SIMT_WRAPPER cublasStatus_t SimtSet(T* to, const void* value, size_t bytes) {
  if (value == nullptr || bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                                           cublasLtMatmulDescAttributes_t which,
                                                           const void* value, size_t bytes) {
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return SimtSet(&desc->op_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return SimtSet(&desc->op_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return SimtSet(&desc->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return SimtSet(&desc->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return SimtSet(&desc->bias_type, value, bytes);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

SIMT_WRAPPER cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                                       cudaDataType type, uint64_t rows,
                                                       uint64_t cols, int64_t ld) {
  *layout = new SimtMatrixLayout{type, rows, cols, ld};
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                             cublasLtMatrixLayoutAttribute_t which,
                                                             const void* value, size_t bytes) {
  return which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? SimtSet(&layout->batch, value, bytes)
                                                     : SimtSet(&layout->stride, value, bytes);
}

SIMT_WRAPPER cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new SimtMatmulPreference();
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
SIMT_WRAPPER cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
// There is one algorithm, which needs no workspace.
SIMT_WRAPPER cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
    cublasLtMatmulHeuristicResult_t* results, int* found) {
  if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  *results = cublasLtMatmulHeuristicResult_t();
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

// D = epilogue(alpha * op(A) * op(B) + beta * C). C and D have one type.
SIMT_WRAPPER cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
    cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
    const void* beta, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
    cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  const SimtMatrixLayout &la = *layout_a, &lb = *layout_b, &lc = *layout_c, &ld = *layout_d;
  const bool a_as_it_is = desc->op_a == CUBLAS_OP_N;
  const uint64_t m = a_as_it_is ? la.rows : la.cols;
  const uint64_t k = a_as_it_is ? la.cols : la.rows;
  const uint64_t k_of_b = desc->op_b == CUBLAS_OP_N ? lb.rows : lb.cols;
  const uint64_t n = desc->op_b == CUBLAS_OP_N ? lb.cols : lb.rows;
  if (k != k_of_b || m != ld.rows || n != ld.cols || lc.rows != m || lc.cols != n ||
      lc.type != ld.type || la.batch != ld.batch || lb.batch != ld.batch || lc.batch != ld.batch) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const float beta_value = SimtScale(beta, desc->compute);
  const size_t bytes = ld.type == CUDA_R_32F ? 4 : 2;
  for (int i = 0; i < ld.batch && c != d && beta_value != 0; ++i) {
    if (cudaMemcpy2D(static_cast<char*>(d) + i * ld.stride * bytes, ld.ld * bytes,
                     static_cast<const char*>(c) + i * lc.stride * bytes, lc.ld * bytes, m * bytes,
                     n, cudaMemcpyDefault) != cudaSuccess) {
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  SimtEpilogue epilogue;
  const bool has_bias = (desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  if (has_bias && desc->bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  epilogue.bias = has_bias ? desc->bias : nullptr;
  epilogue.bias_type = desc->bias_type < 0 ? ld.type : static_cast<cudaDataType>(desc->bias_type);
  epilogue.relu = (desc->epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
  epilogue.gelu = (desc->epilogue & CUBLASLT_EPILOGUE_GELU) != 0;
  return SimtGemmOfTypes(desc->op_a, desc->op_b, static_cast<int>(m), static_cast<int>(n),
                         static_cast<int>(k), SimtScale(alpha, desc->compute), a, la.type,
                         static_cast<int>(la.ld), la.stride, b, lb.type, static_cast<int>(lb.ld),
                         lb.stride, beta_value, d, ld.type, static_cast<int>(ld.ld), ld.stride,
                         ld.batch, epilogue);
}

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_CUBLASLT_H_
