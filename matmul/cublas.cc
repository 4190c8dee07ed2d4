// cuBLAS on row-major matrices without a transposition: what it takes for column-major matrices B
// and A are our B^T and A^T, and B^T * A^T = (A * B)^T is our row-major C.

#include <cublas_v2.h>

#include <algorithm>

#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"
#include "matmul/args.h"
#include "matmul/cublas_lt_call.h"

namespace stridewise {
namespace {

// One multiplication, or the batch in one call.
template <typename T, typename One, typename Batch>
absl::Status Multiply(const MatMulArgs& args, One* one, Batch* batch) {
  const cublasOperation_t op_a = args.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = args.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const T alpha = static_cast<T>(args.alpha);
  const T beta = static_cast<T>(args.beta);
  // A leading dimension of an operand without elements may be 0 with us, but not there.
  const int64_t lda = std::max<int64_t>(args.a.ld, 1);
  const int64_t ldb = std::max<int64_t>(args.b.ld, 1);
  const auto* a = static_cast<const T*>(args.a.data);
  const auto* b = static_cast<const T*>(args.b.data);
  auto* c = static_cast<T*>(args.c.data);
  if (args.batch == 1) {
    return CUBLAS_STATUS(one(args.cublas, op_b, op_a, args.n, args.m, args.k, &alpha, b, ldb, a,
                             lda, &beta, c, args.c.ld));
  }
  return CUBLAS_STATUS(batch(args.cublas, op_b, op_a, args.n, args.m, args.k, &alpha, b, ldb,
                             args.b.stride, a, lda, args.a.stride, &beta, c, args.c.ld,
                             args.c.stride, args.batch));
}

// Operands of 16 bits, or of float that it may round to them, with sums in FP32 or in FP16.
absl::Status MultiplyEx(const MatMulArgs& args, cublasComputeType_t type) {
  const cublasOperation_t op_a = args.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = args.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto alpha = static_cast<float>(args.alpha);
  const auto beta = static_cast<float>(args.beta);
  const Fp16 alpha_half(alpha);
  const Fp16 beta_half(beta);
  const bool in_fp16 = SumsInFp16(args);
  const void* const of_alpha = in_fp16 ? static_cast<const void*>(&alpha_half) : &alpha;
  const void* const of_beta = in_fp16 ? static_cast<const void*>(&beta_half) : &beta;
  // It would read operands that alpha makes irrelevant.
  const int64_t k = alpha == 0 ? 0 : args.k;
  return CUBLAS_STATUS(cublasGemmStridedBatchedEx_64(
      args.cublas, op_b, op_a, args.n, args.m, k, of_alpha, args.b.data, CublasTypeOf(args.b.type),
      std::max<int64_t>(args.b.ld, 1), args.b.stride, args.a.data, CublasTypeOf(args.a.type),
      std::max<int64_t>(args.a.ld, 1), args.a.stride, of_beta, args.c.data,
      CublasTypeOf(args.c.type), args.c.ld, args.c.stride, args.batch, type, CUBLAS_GEMM_DEFAULT));
}

absl::Status Gemm(const MatMulArgs& args, cublasMath_t math) {
  if (args.cublas == nullptr) {
    return absl::InvalidArgumentError("cublas is null; allowed is a handle of cublas_handle.h");
  }
  if (args.m == 0 || args.n == 0 || args.batch == 0) return absl::OkStatus();
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(args.cublas, args.stream)));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetMathMode(args.cublas, math)));
  if (ElementBytes(args.a.type) == 2) {
    // It would add partial sums in the type of C.
    RETURN_IF_ERROR(CUBLAS_STATUS(
        cublasSetMathMode(args.cublas, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
    return MultiplyEx(args, CublasComputeTypeOf(args));
  }
  if (args.precision == MatMulPrecision::kBf16 || args.precision == MatMulPrecision::kFp16) {
    return MultiplyEx(args, CublasComputeTypeOf(args));
  }
  return args.c.type == ElementType::kFloat
             ? Multiply<float>(args, cublasSgemm_64, cublasSgemmStridedBatched_64)
             : Multiply<double>(args, cublasDgemm_64, cublasDgemmStridedBatched_64);
}

}  // namespace

LaunchStatus MatMulCublas(const MatMulArgs& args) {
  return Gemm(args, args.precision == MatMulPrecision::kTf32 ? CUBLAS_TF32_TENSOR_OP_MATH
                                                             : CUBLAS_DEFAULT_MATH);
}

LaunchStatus MatMulCublasPedantic(const MatMulArgs& args) {
  return Gemm(args, CUBLAS_PEDANTIC_MATH);
}

}  // namespace stridewise
