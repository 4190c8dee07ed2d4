// Products of cuBLAS and cuBLASLt against plain loops, and a kernel that reads their results.

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>
#include <vector>

int failures = 0;
#define CHECK_IS(value, want)                                                              \
  do {                                                                                     \
    const double got_value = (value);                                                      \
    const double want_value = (want);                                                      \
    if (!(std::fabs(got_value - want_value) <= 1e-3 * std::fabs(want_value) + 1e-5)) {     \
      std::printf("line %d: %s is %g, not %g\n", __LINE__, #value, got_value, want_value); \
      ++failures;                                                                          \
    }                                                                                      \
  } while (0)

constexpr int kM = 5;
constexpr int kN = 3;
constexpr int kK = 7;
constexpr int kPad = 2;  // Of each leading dimension.

// A matrix on the device of values that are exact in all types.
template <typename T>
T* Matrix(int rows, int cols, int seed) {
  std::vector<T> host(static_cast<size_t>(rows + kPad) * cols);
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<T>(static_cast<float>((i * 7 + seed) % 13) / 4 - 1);
  }
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <typename T>
double At(const T* matrix, int rows, int i, int j) {
  return static_cast<double>(
      static_cast<float>(matrix[i + static_cast<size_t>(j) * (rows + kPad)]));
}

// Device memory is the host's here: the test reads it as it is.
template <typename T>
double Dot(cublasOperation_t op_a, cublasOperation_t op_b, const T* a, const T* b, int i, int j) {
  double sum = 0;
  for (int l = 0; l < kK; ++l) {
    sum += (op_a == CUBLAS_OP_N ? At(a, kM, i, l) : At(a, kK, l, i)) *
           (op_b == CUBLAS_OP_N ? At(b, kK, l, j) : At(b, kN, j, l));
  }
  return sum;
}

template <typename T>
void TestGemmEx(cublasHandle_t handle, cudaDataType type) {
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T}) {
      const int lda = (op_a == CUBLAS_OP_N ? kM : kK) + kPad;
      const int ldb = (op_b == CUBLAS_OP_N ? kK : kN) + kPad;
      T* a = op_a == CUBLAS_OP_N ? Matrix<T>(kM, kK, 1) : Matrix<T>(kK, kM, 1);
      T* b = op_b == CUBLAS_OP_N ? Matrix<T>(kK, kN, 2) : Matrix<T>(kN, kK, 2);
      float* c = Matrix<float>(kM, kN, 3);
      const float *before = Matrix<float>(kM, kN, 3), alpha = 2, beta = 0.5f;
      CHECK_IS(
          cublasGemmEx(handle, op_a, op_b, kM, kN, kK, &alpha, a, type, lda, b, type, ldb, &beta, c,
                       CUDA_R_32F, kM + kPad, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          CUBLAS_STATUS_SUCCESS);
      // The older form adds nothing: no product, to all of what is there.
      const float none = 0, one = 1;
      CHECK_IS(cublasGemmEx(handle, op_a, op_b, kM, kN, kK, &none, a, type, lda, b, type, ldb, &one,
                            c, CUDA_R_32F, kM + kPad, CUDA_R_32F, CUBLAS_GEMM_DEFAULT),
               CUBLAS_STATUS_SUCCESS);
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < kM + kPad; ++i) {
          const double old = At(before, kM, i, j);
          CHECK_IS(At(c, kM, i, j), i < kM ? 2 * Dot(op_a, op_b, a, b, i, j) + 0.5 * old : old);
        }
      }
    }
  }
}

double Activation(cublasLtEpilogue_t epilogue, double x) {
  if (epilogue & CUBLASLT_EPILOGUE_RELU) return x < 0 ? 0 : x;
  if (epilogue & CUBLASLT_EPILOGUE_GELU) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

template <typename T>
void TestLt(cublasLtHandle_t handle, cudaDataType type) {
  for (const cublasLtEpilogue_t epilogue :
       {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS,
        CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    constexpr int kBatch = 2;
    const float alpha = 0.25f, beta = 1;
    T* a = Matrix<T>(kK, kM, 4);  // Transposed, and the same in each product of the batch.
    T* b = Matrix<T>(kK, kBatch * kN, 5);
    T* c = Matrix<T>(kM, kBatch * kN, 6);
    T* d;
    cudaMalloc(&d, (kM + kPad) * kBatch * kN * sizeof(T));
    const T* bias = Matrix<T>(kM, 1, 8);
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    CHECK_IS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                            sizeof(transposed)),
             CUBLAS_STATUS_SUCCESS);
    CHECK_IS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, 1),
             CUBLAS_STATUS_INVALID_VALUE);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof(epilogue));
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
    cublasLtMatrixLayout_t of_a, of_b, of_d, wrong;
    cublasLtMatrixLayoutCreate(&of_a, type, kK, kM, kK + kPad);
    cublasLtMatrixLayoutCreate(&of_b, type, kK, kN, kK + kPad);
    cublasLtMatrixLayoutCreate(&of_d, type, kM, kN, kM + kPad);
    cublasLtMatrixLayoutCreate(&wrong, type, kM, kN + 1, kM + kPad);
    int64_t stride = 0;
    const auto batched = [&](cublasLtMatrixLayout_t layout, int64_t elements) {
      stride = elements;
      const int count = kBatch;
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                       sizeof(count));
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                       sizeof(stride));
    };
    batched(of_a, 0);
    batched(of_b, (kK + kPad) * kN);
    batched(of_d, (kM + kPad) * kN);
    batched(wrong, 0);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    cublasLtMatmulAlgoGetHeuristic(handle, desc, of_a, of_b, of_d, of_d, preference, 1, &result,
                                   &found);
    CHECK_IS(found, 1);
    CHECK_IS(cublasLtMatmul(handle, desc, &alpha, a, of_a, b, of_b, &beta, c, wrong, d, wrong,
                            &result.algo, nullptr, 0, nullptr),
             CUBLAS_STATUS_INVALID_VALUE);
    CHECK_IS(cublasLtMatmul(handle, desc, &alpha, a, of_a, b, of_b, &beta, c, of_d, d, of_d,
                            &result.algo, nullptr, 0, nullptr),
             CUBLAS_STATUS_SUCCESS);
    for (int j = 0; j < kBatch * kN; ++j) {
      for (int i = 0; i < kM; ++i) {
        double want = alpha * Dot(transposed, CUBLAS_OP_N, a, b, i, j) + At(c, kM, i, j);
        if (epilogue & CUBLASLT_EPILOGUE_BIAS) want += At(bias, kM, i, 0);
        // What is rounded to 8 bits, is compared so.
        CHECK_IS(
            At(d, kM, i, j),
            static_cast<float>(static_cast<T>(static_cast<float>(Activation(epilogue, want)))));
      }
    }
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatmulDescDestroy(desc);
    for (const auto layout : {of_a, of_b, of_d, wrong}) cublasLtMatrixLayoutDestroy(layout);
  }
}

// A times a vector whose elements are a row of a matrix, or a column.
void TestGemv(cublasHandle_t handle) {
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    for (const bool row : {false, true}) {
      const bool plain = op == CUBLAS_OP_N;
      const float* a = plain ? Matrix<float>(kM, kK, 1) : Matrix<float>(kK, kM, 1);
      const float* x = row ? Matrix<float>(kN, kK, 2) : Matrix<float>(kK, kN, 2);
      float* y = Matrix<float>(kM, 1, 3);
      const float *before = Matrix<float>(kM, 1, 3), alpha = 2, beta = 0.5f;
      CHECK_IS(cublasSgemv(handle, op, plain ? kM : kK, plain ? kK : kM, &alpha, a,
                           (plain ? kM : kK) + kPad, x, row ? kN + kPad : 1, &beta, y, 1),
               CUBLAS_STATUS_SUCCESS);
      for (int i = 0; i < kM; ++i) {
        CHECK_IS(y[i], 2 * Dot(op, row ? CUBLAS_OP_T : CUBLAS_OP_N, a, x, i, 0) + 0.5 * before[i]);
      }
    }
  }
}

__global__ void Read(const float* c, float* sum) {
  if (threadIdx.x == 0) *sum = c[0] + c[kM - 1];
}

int main() {
  cublasHandle_t handle;
  CHECK_IS(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  TestGemmEx<float>(handle, CUDA_R_32F);
  TestGemmEx<__half>(handle, CUDA_R_16F);
  TestGemmEx<__nv_bfloat16>(handle, CUDA_R_16BF);
  TestGemv(handle);
  cublasLtHandle_t lt;
  CHECK_IS(cublasLtCreate(&lt), CUBLAS_STATUS_SUCCESS);
  TestLt<float>(lt, CUDA_R_32F);
  TestLt<__half>(lt, CUDA_R_16F);
  TestLt<__nv_bfloat16>(lt, CUDA_R_16BF);

  // A result counts as written.
  const float *a = Matrix<float>(kM, kK, 1), *b = Matrix<float>(kK, kN, 2), alpha = 1, beta = 0;
  float *c, *sum;
  cudaMalloc(&c, (kM + kPad) * kN * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kK, &alpha, a, kM + kPad, b, kK + kPad,
              &beta, c, kM + kPad);
  Read<<<1, 32>>>(c, sum);
  CHECK_IS(*sum, Dot(CUBLAS_OP_N, CUBLAS_OP_N, a, b, 0, 0) +
                     Dot(CUBLAS_OP_N, CUBLAS_OP_N, a, b, kM - 1, 0));
  return failures == 0 ? 0 : 1;
}
