// A cuBLAS that computes nothing: it keeps the state of one handle and prints each call with its
// arguments. A product with 77 rows calls cublasLtMatmul(), as cuBLAS may.

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#define FAKE extern "C" __attribute__((visibility("default"))) cublasStatus_t

namespace {

struct Handle {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

Handle& StateOf(cublasHandle_t handle) { return *reinterpret_cast<Handle*>(handle); }

// Prints the arguments of a call, and returns a status that only the real function would.
template <typename... Args>
cublasStatus_t Print(const char* function, Args... args) {
  std::printf("%s", function);
  const auto print = [](auto value) { std::printf(" %" PRId64, (int64_t)value); };
  (print(args), ...);
  std::printf("\n");
  return CUBLAS_STATUS_LICENSE_ERROR;
}

// Returns what tells one scalar from another: its value in thousandths, or its address on the
// device.
int64_t Scalar(cublasHandle_t handle, const void* scalar) {
  return StateOf(handle).pointer_mode == CUBLAS_POINTER_MODE_HOST
             ? static_cast<int64_t>(1000 * *static_cast<const float*>(scalar))
             : reinterpret_cast<int64_t>(scalar);
}

}  // namespace

FAKE cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new Handle);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasDestroy_v2(cublasHandle_t handle) {
  std::printf("cublasDestroy_v2\n");
  delete &StateOf(handle);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  StateOf(handle).stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = StateOf(handle).stream;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasSetWorkspace_v2(cublasHandle_t /*handle*/, void* /*data*/, size_t bytes) {
  std::printf("cublasSetWorkspace_v2 %zu\n", bytes);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  StateOf(handle).pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = StateOf(handle).pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  StateOf(handle).math = mode;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = StateOf(handle).math;
  return CUBLAS_STATUS_SUCCESS;
}

#define FAKE_SGEMM(name, Int)                                                                      \
  FAKE name(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
            const float* alpha, const float* a, Int lda, const float* b, Int ldb,                  \
            const float* beta, float* c, Int ldc) {                                                \
    if (m == 77) {                                                                                 \
      return cublasLtMatmul(nullptr, nullptr, alpha, a, nullptr, b, nullptr, beta, c, nullptr, c,  \
                            nullptr, nullptr, nullptr, 0, nullptr);                                \
    }                                                                                              \
    return Print(#name, op_a, op_b, m, n, k, Scalar(h, alpha), a, lda, b, ldb, Scalar(h, beta), c, \
                 ldc);                                                                             \
  }
FAKE_SGEMM(cublasSgemm_v2, int)
FAKE_SGEMM(cublasSgemm_v2_64, int64_t)

#define FAKE_BATCH(name, Int)                                                                      \
  FAKE name(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
            const float* alpha, const float* a, Int lda, long long int stride_a, const float* b,   \
            Int ldb, long long int stride_b, const float* beta, float* c, Int ldc,                 \
            long long int stride_c, Int batch) {                                                   \
    return Print(#name, op_a, op_b, m, n, k, Scalar(h, alpha), a, lda, stride_a, b, ldb, stride_b, \
                 Scalar(h, beta), c, ldc, stride_c, batch);                                        \
  }
FAKE_BATCH(cublasSgemmStridedBatched, int)
FAKE_BATCH(cublasSgemmStridedBatched_64, int64_t)

#define FAKE_EX(name, Int)                                                                         \
  FAKE name(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
            const void* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,         \
            cudaDataType type_b, Int ldb, const void* beta, void* c, cudaDataType type_c, Int ldc, \
            cublasComputeType_t compute, cublasGemmAlgo_t algo) {                                  \
    return Print(#name, op_a, op_b, m, n, k, Scalar(h, alpha), a, type_a, lda, b, type_b, ldb,     \
                 Scalar(h, beta), c, type_c, ldc, compute, algo);                                  \
  }
FAKE_EX(cublasGemmEx, int)
FAKE_EX(cublasGemmEx_64, int64_t)

#define FAKE_BATCH_EX(name, Int)                                                                   \
  FAKE name(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k, \
            const void* alpha, const void* a, cudaDataType type_a, Int lda,                        \
            long long int stride_a, const void* b, cudaDataType type_b, Int ldb,                   \
            long long int stride_b, const void* beta, void* c, cudaDataType type_c, Int ldc,       \
            long long int stride_c, Int batch, cublasComputeType_t compute,                        \
            cublasGemmAlgo_t algo) {                                                               \
    return Print(#name, op_a, op_b, m, n, k, Scalar(h, alpha), a, type_a, lda, stride_a, b,        \
                 type_b, ldb, stride_b, Scalar(h, beta), c, type_c, ldc, stride_c, batch, compute, \
                 algo);                                                                            \
  }
FAKE_BATCH_EX(cublasGemmStridedBatchedEx, int)
FAKE_BATCH_EX(cublasGemmStridedBatchedEx_64, int64_t)

#define FAKE_GEAM(name, Int)                                                                    \
  FAKE name(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n,     \
            const float* alpha, const float* a, Int lda, const float* beta, const float* b,     \
            Int ldb, float* c, Int ldc) {                                                       \
    return Print(#name, op_a, op_b, m, n, Scalar(h, alpha), a, lda, Scalar(h, beta), b, ldb, c, \
                 ldc);                                                                          \
  }
FAKE_GEAM(cublasSgeam, int)
FAKE_GEAM(cublasSgeam_64, int64_t)

// Of cuBLASLt, descriptions are arrays of attributes: value i is that of attribute i.
FAKE cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                    cublasLtMatmulDescAttributes_t attribute, void* value,
                                    size_t bytes, size_t* written) {
  std::memcpy(value, reinterpret_cast<const int64_t*>(desc) + attribute, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                      cublasLtMatrixLayoutAttribute_t attribute, void* value,
                                      size_t bytes, size_t* written) {
  std::memcpy(value, reinterpret_cast<const int64_t*>(layout) + attribute, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE cublasLtDestroy(cublasLtHandle_t handle) {
  return Print("cublasLtDestroy", reinterpret_cast<int64_t>(handle));
}
FAKE cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                    const void* a, cublasLtMatrixLayout_t a_desc, const void* b,
                    cublasLtMatrixLayout_t b_desc, const void* beta, const void* c,
                    cublasLtMatrixLayout_t c_desc, void* d, cublasLtMatrixLayout_t d_desc,
                    const cublasLtMatmulAlgo_t* algo, void* workspace, size_t bytes,
                    cudaStream_t stream) {
  return Print("cublasLtMatmul", handle != nullptr, desc != nullptr, alpha != nullptr, a,
               a_desc != nullptr, b, b_desc != nullptr, beta != nullptr, c, c_desc != nullptr, d,
               d_desc != nullptr, algo != nullptr, workspace, bytes, stream);
}
