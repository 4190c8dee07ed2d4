// Calls every function that the drop-in defines, in each mode, of whatever library is linked.

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>
#include <cstdio>

namespace {

template <typename T>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

const float* const kA = At<float>(0x1000);
const float* const kB = At<float>(0x2000);
float* const kC = At<float>(0x3000);
// At fixed addresses, which are printed. Nobody reads device memory here.
const float* const kOnDevice = At<float>(0x4000);

void Expect(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_LICENSE_ERROR) std::printf("the status is %d\n", status);
}

void CallAll(cublasHandle_t h, const float* one, const float* zero) {
  const auto n = CUBLAS_OP_N;
  const auto t = CUBLAS_OP_T;
  const auto f = CUDA_R_32F;
  const auto compute = CUBLAS_COMPUTE_32F;
  const auto algo = CUBLAS_GEMM_DEFAULT;
  const int64_t big = int64_t{1} << 33;
  Expect(cublasSgemm_v2(h, n, t, 5, 6, 7, one, kA, 8, kB, 9, zero, kC, 10));
  Expect(cublasSgemm_v2(h, n, n, 77, 6, 7, one, kA, 77, kB, 9, zero, kC, 77));
  Expect(cublasSgemm_v2_64(h, n, t, big, 6, 7, one, kA, big + 1, kB, 9, zero, kC, big + 2));
  Expect(cublasSgemmStridedBatched(h, t, n, 5, 6, 7, one, kA, 8, 100, kB, 9, 200, zero, kC, 10, 300,
                                   4));
  Expect(cublasSgemmStridedBatched_64(h, t, n, big, 6, 7, one, kA, 8, big, kB, 9, 200, zero, kC,
                                      big + 2, 300, 4));
  Expect(cublasGemmEx(h, n, t, 5, 6, 7, one, kA, f, 8, kB, f, 9, zero, kC, f, 10, compute, algo));
  Expect(cublasGemmEx(h, n, t, 5, 6, 7, one, kA, CUDA_R_16F, 8, kB, CUDA_R_16F, 9, zero, kC,
                      CUDA_R_16F, 10, compute, algo));
  Expect(
      cublasGemmEx_64(h, n, t, big, 6, 7, one, kA, f, 8, kB, f, 9, zero, kC, f, 10, compute, algo));
  Expect(cublasGemmStridedBatchedEx(h, n, t, 5, 6, 7, one, kA, f, 8, 100, kB, f, 9, 200, zero, kC,
                                    f, 10, 300, 4, compute, algo));
  Expect(cublasGemmStridedBatchedEx_64(h, n, t, big, 6, 7, one, kA, f, 8, 100, kB, f, 9, 200, zero,
                                       kC, f, 10, 300, 4, compute, algo));
  Expect(cublasSgeam(h, t, n, 5, 6, one, kA, 8, zero, kB, 9, kC, 10));
  Expect(cublasSgeam_64(h, n, n, big, 6, one, kA, 8, zero, kB, 9, kC, 10));
}

// A product of cuBLASLt, 5 x 6 x 7, with an epilogue.
void CallLt(int64_t epilogue) {
  static const float one = 1;
  static const float zero = 0;
  int64_t desc[64] = {};
  desc[CUBLASLT_MATMUL_DESC_COMPUTE_TYPE] = CUBLAS_COMPUTE_32F;
  desc[CUBLASLT_MATMUL_DESC_EPILOGUE] = epilogue;
  int64_t layouts[3][16] = {};
  const int64_t rows[] = {5, 7, 5};
  const int64_t cols[] = {7, 6, 6};
  for (int i = 0; i < 3; ++i) {
    layouts[i][CUBLASLT_MATRIX_LAYOUT_ROWS] = rows[i];
    layouts[i][CUBLASLT_MATRIX_LAYOUT_COLS] = cols[i];
    layouts[i][CUBLASLT_MATRIX_LAYOUT_LD] = rows[i];
    layouts[i][CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT] = 1;
  }
  const auto layout = [&](int i) { return reinterpret_cast<cublasLtMatrixLayout_t>(layouts[i]); };
  Expect(cublasLtMatmul(At<cublasLtContext>(0x50), reinterpret_cast<cublasLtMatmulDesc_t>(desc),
                        &one, kA, layout(0), kB, layout(1), &zero, kC, layout(2), kC, layout(2),
                        nullptr, nullptr, 0, nullptr));
}

}  // namespace

int main() {
  static const float one = 1;
  static const float zero = 0;
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSetStream(handle, nullptr);
  cublasSetWorkspace(handle, kC, 1234);
  CallAll(handle, &one, &zero);
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  CallAll(handle, &one, &zero);
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  CallAll(handle, kOnDevice, kOnDevice);
  CallLt(CUBLASLT_EPILOGUE_DEFAULT);
  CallLt(CUBLASLT_EPILOGUE_GELU);
  Expect(cublasLtDestroy(At<cublasLtContext>(0x50)));
  cublasDestroy(handle);
  std::printf("end\n");
  return 0;
}
