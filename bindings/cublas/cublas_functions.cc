// The functions of cuBLAS that the drop-in defines. Each offers its call and passes it on, as it
// came, if it is not taken; what only tells cuBLAS of a handle is noted and passed on.

#include <cublas_v2.h>

#include <cstdint>

#include "bindings/cublas/handles.h"
#include "bindings/cublas/offer.h"
#include "bindings/cublas/real_function.h"
#include "bindings/cublas/record.h"
#include "bindings/cublas/settings.h"
#include "bindings/cublas/trial_timer.h"

namespace stridewise::drop_in {
namespace {

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

bool IsOperation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

// The letter of an operation on real numbers.
char Letter(cublasOperation_t op) { return op == CUBLAS_OP_N ? 'n' : 't'; }

bool AllFloat(const GemmTypes& types) {
  return types.a == CUDA_R_32F && types.b == CUDA_R_32F && types.c == CUDA_R_32F &&
         (types.compute == CUBLAS_COMPUTE_32F || types.compute == CUBLAS_COMPUTE_32F_PEDANTIC);
}

// What cuBLAS knows of a handle.
struct HandleState {
  cudaStream_t stream = nullptr;
  bool pedantic = false;
};

// Reads the handle's state. Returns why calls with it are not ours; kTaken if they are.
Outcome ReadHandle(cublasHandle_t handle, HandleState* state) {
  const auto get_stream = STRIDEWISE_REAL(cublasGetStream_v2, kCublas);
  const auto get_pointer_mode = STRIDEWISE_REAL(cublasGetPointerMode_v2, kCublas);
  const auto get_math_mode = STRIDEWISE_REAL(cublasGetMathMode, kCublas);
  if (get_stream == nullptr || get_pointer_mode == nullptr || get_math_mode == nullptr) {
    return Outcome::kNothingToDo;
  }
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_DEVICE;
  cublasMath_t math = CUBLAS_TF32_TENSOR_OP_MATH;
  if (handle == nullptr || get_stream(handle, &state->stream) != CUBLAS_STATUS_SUCCESS ||
      get_pointer_mode(handle, &pointer_mode) != CUBLAS_STATUS_SUCCESS ||
      get_math_mode(handle, &math) != CUBLAS_STATUS_SUCCESS) {
    return Outcome::kNothingToDo;
  }
  if (pointer_mode != CUBLAS_POINTER_MODE_HOST) return Outcome::kDevicePointers;
  // This flag is about sums of 16-bit operands.
  const int mode = static_cast<int>(math) & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  state->pedantic = mode == CUBLAS_PEDANTIC_MATH;
  return mode == CUBLAS_DEFAULT_MATH || state->pedantic ? Outcome::kTaken : Outcome::kMathMode;
}

MatMulProblem ProblemOf(const Gemm& gemm) {
  MatMulProblem problem;
  problem.m = gemm.m;
  problem.n = gemm.n;
  problem.k = gemm.k;
  problem.layout = MatrixLayout::kColumnMajor;
  problem.a = {static_cast<const float*>(gemm.a), gemm.lda};
  problem.a.transposed = gemm.op_a != CUBLAS_OP_N;
  problem.a.stride = gemm.stride_a;
  problem.b = {static_cast<const float*>(gemm.b), gemm.ldb};
  problem.b.transposed = gemm.op_b != CUBLAS_OP_N;
  problem.b.stride = gemm.stride_b;
  problem.c = {static_cast<float*>(gemm.c), gemm.ldc};
  problem.c.stride = gemm.stride_c;
  problem.alpha = *static_cast<const float*>(gemm.alpha);
  problem.beta = *static_cast<const float*>(gemm.beta);
  problem.batch = gemm.batch;
  return problem;
}

// Returns whether the product was queued, and fills in the record.
bool TakeGemm(const Gemm& gemm, const GemmTypes& types, Record* record) {
  HandleState handle;
  record->outcome = !CurrentSettings().takes_calls ? Outcome::kOff
                    : !AllFloat(types)             ? Outcome::kTypes
                                                   : ReadHandle(gemm.handle, &handle);
  if (record->outcome != Outcome::kTaken) return false;
  if (!IsOperation(gemm.op_a) || !IsOperation(gemm.op_b) || gemm.alpha == nullptr ||
      gemm.beta == nullptr) {
    record->outcome = Outcome::kNothingToDo;
    return false;
  }
  MatMulProblem problem = ProblemOf(gemm);
  const HandleWorkspace workspace = WorkspaceOf(gemm.handle);
  problem.workspace = workspace.data;
  problem.workspace_bytes = workspace.bytes;
  problem.precision =
      ProductPrecision(handle.pedantic || types.compute == CUBLAS_COMPUTE_32F_PEDANTIC);
  return TakeProduct(problem, gemm.handle, handle.stream, record);
}

// Offers the product. Does nothing within a call of cuBLAS of its own.
bool Offer(const Gemm& gemm, const GemmTypes& types = {}) {
  if (IsInsideRealCall()) return false;
  Record record;
  record.function = gemm.function;
  record.op_a = Letter(gemm.op_a);
  record.op_b = Letter(gemm.op_b);
  record.m = gemm.m;
  record.n = gemm.n;
  record.k = gemm.k;
  record.batch = gemm.batch;
  const bool taken = TakeGemm(gemm, types, &record);
  Keep(record);
  return taken;
}

// Calls the real function as the program called ours, whose parameters these are.
template <typename... Args>
cublasStatus_t PassOn(void* real, Args... args) {
  if (real == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const RealCall inside;
  const cublasStatus_t status = reinterpret_cast<cublasStatus_t (*)(Args...)>(real)(args...);
  EndTrial(status == CUBLAS_STATUS_SUCCESS);
  return status;
}

// Offers C = A^T, which is all that we have of geam.
bool OfferGeam(const char* function, cublasHandle_t handle, cublasOperation_t op_a, int64_t m,
               int64_t n, const float* alpha, const float* a, int64_t lda, const float* beta,
               float* c, int64_t ldc) {
  if (IsInsideRealCall()) return false;
  Record record;
  record.function = function;
  record.op_a = Letter(op_a);
  record.m = m;
  record.n = n;
  HandleState state;
  record.outcome = !CurrentSettings().takes_calls ? Outcome::kOff : ReadHandle(handle, &state);
  if (record.outcome == Outcome::kMathMode) record.outcome = Outcome::kTaken;  // Nothing is added.
  bool taken = false;
  if (record.outcome == Outcome::kTaken) {
    if (alpha == nullptr || beta == nullptr || *alpha != 1 || *beta != 0 ||
        (op_a != CUBLAS_OP_T && op_a != CUBLAS_OP_C)) {
      record.outcome = Outcome::kForm;
    } else {
      taken = TakeTranspose(m, n, a, lda, c, ldc, state.stream, &record);
    }
  }
  Keep(record);
  return taken;
}

}  // namespace
}  // namespace stridewise::drop_in

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
