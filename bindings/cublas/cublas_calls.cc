#include "bindings/cublas/cublas_calls.h"

#include <cublas_v2.h>

#include <cstdint>

#include "bindings/cublas/handles.h"
#include "bindings/cublas/offer.h"
#include "bindings/cublas/real_function.h"
#include "bindings/cublas/record.h"
#include "bindings/cublas/settings.h"

namespace stridewise::drop_in {
namespace {

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

}  // namespace

bool Offer(const Gemm& gemm, const GemmTypes& types) {
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

}  // namespace stridewise::drop_in
