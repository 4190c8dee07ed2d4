// cublasLtMatmul(): what PyTorch calls for linear layers. Products of column-major matrices of
// float are offered, with alpha and beta on the host, without an epilogue or with a bias and ReLU.

#include <cublasLt.h>

#include <cstdint>

#include "bindings/cublas/offer.h"
#include "bindings/cublas/real_function.h"
#include "bindings/cublas/record.h"
#include "bindings/cublas/settings.h"
#include "bindings/cublas/trial_timer.h"

namespace stridewise::drop_in {
namespace {

// Reads an attribute; false where cuBLASLt does not tell.
template <typename T>
bool Read(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, T* value) {
  const auto get = STRIDEWISE_REAL(cublasLtMatmulDescGetAttribute, kCublasLt);
  size_t written = 0;
  return get != nullptr &&
         get(desc, attribute, value, sizeof(*value), &written) == CUBLAS_STATUS_SUCCESS;
}
template <typename T>
bool Read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute, T* value) {
  const auto get = STRIDEWISE_REAL(cublasLtMatrixLayoutGetAttribute, kCublasLt);
  size_t written = 0;
  return get != nullptr &&
         get(layout, attribute, value, sizeof(*value), &written) == CUBLAS_STATUS_SUCCESS;
}

struct Layout {
  uint32_t type = 0;
  int32_t order = 0;
  uint64_t rows = 0, cols = 0;
  int64_t ld = 0;
  int32_t batch = 1;
  int64_t stride = 0;
};

bool ReadLayout(cublasLtMatrixLayout_t desc, Layout* layout) {
  return Read(desc, CUBLASLT_MATRIX_LAYOUT_TYPE, &layout->type) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_ORDER, &layout->order) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_ROWS, &layout->rows) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_COLS, &layout->cols) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_LD, &layout->ld) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &layout->batch) &&
         Read(desc, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &layout->stride);
}

bool IsFloatColumns(const Layout& layout) {
  return layout.type == CUDA_R_32F && layout.order == CUBLASLT_ORDER_COL;
}

struct Call {
  cublasLtMatmulDesc_t desc;
  const void *alpha, *a, *b, *beta, *c;
  void* d;
  cublasLtMatrixLayout_t a_desc, b_desc, c_desc, d_desc;
  void* workspace;
  size_t workspace_bytes;
};

// Sets the problem's epilogue; false where we do not have it.
bool ReadEpilogue(cublasLtMatmulDesc_t desc, int64_t batch, MatMulProblem* problem) {
  uint32_t epilogue = 0;
  if (!Read(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)) return false;
  const bool relu = epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  problem->epilogue.activation = relu ? Activation::kRelu : Activation::kNone;
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT || epilogue == CUBLASLT_EPILOGUE_RELU) return true;
  if (epilogue != CUBLASLT_EPILOGUE_BIAS && epilogue != CUBLASLT_EPILOGUE_RELU_BIAS) return false;
  // -1: the type of D.
  int32_t type = 0;
  int64_t stride = 0;
  if (!Read(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &problem->epilogue.bias) ||
      !Read(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type) ||
      !Read(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, &stride)) {
    return false;
  }
  return problem->epilogue.bias != nullptr && (type == -1 || type == CUDA_R_32F) &&
         (batch == 1 || stride == 0);
}

// Makes the problem of a call that is ours, but for its prediction, or returns why it is not.
Outcome ProblemOf(const Call& call, MatMulProblem* problem) {
  int32_t compute = 0, scale = 0, pointer_mode = 0, op_a = 0, op_b = 0, op_c = 0;
  Layout a, b, c, d;
  if (call.desc == nullptr || call.alpha == nullptr || call.beta == nullptr ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &compute) ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &scale) ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &pointer_mode) ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_TRANSA, &op_a) ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_TRANSB, &op_b) ||
      !Read(call.desc, CUBLASLT_MATMUL_DESC_TRANSC, &op_c) || call.a_desc == nullptr ||
      call.b_desc == nullptr || call.c_desc == nullptr || call.d_desc == nullptr ||
      !ReadLayout(call.a_desc, &a) || !ReadLayout(call.b_desc, &b) ||
      !ReadLayout(call.c_desc, &c) || !ReadLayout(call.d_desc, &d)) {
    return Outcome::kNothingToDo;
  }
  if (scale != CUDA_R_32F ||
      (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_PEDANTIC)) {
    return Outcome::kTypes;
  }
  if (pointer_mode != CUBLASLT_POINTER_MODE_HOST) return Outcome::kDevicePointers;
  const float beta = *static_cast<const float*>(call.beta);
  const bool reads_another_c =
      beta != 0 && (call.c != call.d || c.ld != d.ld || c.stride != d.stride);
  if (!IsFloatColumns(a) || !IsFloatColumns(b) || !IsFloatColumns(c) || !IsFloatColumns(d) ||
      op_c != CUBLAS_OP_N || reads_another_c || !ReadEpilogue(call.desc, d.batch, problem) ||
      a.batch != d.batch || b.batch != d.batch) {
    return Outcome::kForm;
  }
  const bool transpose_a = op_a != CUBLAS_OP_N;
  const bool transpose_b = op_b != CUBLAS_OP_N;
  problem->m = static_cast<int64_t>(d.rows);
  problem->n = static_cast<int64_t>(d.cols);
  problem->k = static_cast<int64_t>(transpose_a ? a.rows : a.cols);
  if (static_cast<int64_t>(transpose_a ? a.cols : a.rows) != problem->m ||
      static_cast<int64_t>(transpose_b ? b.cols : b.rows) != problem->k ||
      static_cast<int64_t>(transpose_b ? b.rows : b.cols) != problem->n) {
    return Outcome::kNothingToDo;
  }
  problem->layout = MatrixLayout::kColumnMajor;
  problem->a = {static_cast<const float*>(call.a), a.ld};
  problem->a.transposed = transpose_a;
  problem->a.stride = a.stride;
  problem->b = {static_cast<const float*>(call.b), b.ld};
  problem->b.transposed = transpose_b;
  problem->b.stride = b.stride;
  problem->c = {static_cast<float*>(call.d), d.ld};
  problem->c.stride = d.stride;
  problem->alpha = *static_cast<const float*>(call.alpha);
  problem->beta = beta;
  problem->batch = d.batch;
  problem->precision = ProductPrecision(compute == CUBLAS_COMPUTE_32F_PEDANTIC);
  problem->workspace = call.workspace;
  problem->workspace_bytes = static_cast<int64_t>(call.workspace_bytes);
  return Outcome::kTaken;
}

bool Offer(const Call& call, const void* handle, cudaStream_t stream) {
  if (IsInsideRealCall()) return false;
  Record record;
  record.function = "cublasLtMatmul";
  MatMulProblem problem;
  record.outcome = CurrentSettings().takes_calls ? ProblemOf(call, &problem) : Outcome::kOff;
  record.op_a = problem.a.transposed ? 't' : 'n';
  record.op_b = problem.b.transposed ? 't' : 'n';
  record.m = problem.m;
  record.n = problem.n;
  record.k = problem.k;
  record.batch = problem.batch;
  const bool taken =
      record.outcome == Outcome::kTaken && TakeProduct(problem, handle, stream, &record);
  Keep(record);
  return taken;
}

}  // namespace
}  // namespace stridewise::drop_in

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t a_desc, const void* b,
                                         cublasLtMatrixLayout_t b_desc, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t c_desc, void* d,
                                         cublasLtMatrixLayout_t d_desc,
                                         const cublasLtMatmulAlgo_t* algo, void* workspace,
                                         size_t workspace_bytes, cudaStream_t stream) {
  if (stridewise::drop_in::Offer({desc, alpha, a, b, beta, c, d, a_desc, b_desc, c_desc, d_desc,
                                  workspace, workspace_bytes},
                                 handle, stream)) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const auto real = STRIDEWISE_REAL(cublasLtMatmul, kCublasLt);
  if (real == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const stridewise::drop_in::RealCall inside;
  const cublasStatus_t status = real(handle, desc, alpha, a, a_desc, b, b_desc, beta, c, c_desc, d,
                                     d_desc, algo, workspace, workspace_bytes, stream);
  stridewise::drop_in::EndTrial(status == CUBLAS_STATUS_SUCCESS);
  return status;
}

extern "C" cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  stridewise::drop_in::ForgetOwner(handle);
  const auto real = STRIDEWISE_REAL(cublasLtDestroy, kCublasLt);
  if (real == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const stridewise::drop_in::RealCall inside;
  return real(handle);
}
