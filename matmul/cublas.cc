// cuBLAS on row-major matrices without a transposition: what it takes for column-major matrices B
// and A are our B^T and A^T, and B^T * A^T = (A * B)^T is our row-major C.

#include <cublas_v2.h>

#include <algorithm>

#include "common/cublas_status.h"
#include "common/status_macros.h"
#include "matmul/matmul.h"

namespace stridewise {
namespace {

absl::Status Gemm(const MatMulArgs& args, cublasMath_t math) {
  if (args.cublas == nullptr) {
    return absl::InvalidArgumentError("cublas is null; allowed is a handle of cublas_handle.h");
  }
  if (args.m == 0 || args.n == 0) return absl::OkStatus();
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(args.cublas, args.stream)));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetMathMode(args.cublas, math)));
  // A leading dimension of an operand without elements may be 0 with us, but not there.
  const int64_t lda = std::max<int64_t>(args.lda, 1);
  const int64_t ldb = std::max<int64_t>(args.ldb, 1);
  if (args.type == ElementType::kFloat) {
    const float one = 1;
    const float zero = 0;
    return CUBLAS_STATUS(cublasSgemm_64(args.cublas, CUBLAS_OP_N, CUBLAS_OP_N, args.n, args.m,
                                        args.k, &one, static_cast<const float*>(args.b), ldb,
                                        static_cast<const float*>(args.a), lda, &zero,
                                        static_cast<float*>(args.c), args.ldc));
  }
  const double one = 1;
  const double zero = 0;
  return CUBLAS_STATUS(cublasDgemm_64(args.cublas, CUBLAS_OP_N, CUBLAS_OP_N, args.n, args.m, args.k,
                                      &one, static_cast<const double*>(args.b), ldb,
                                      static_cast<const double*>(args.a), lda, &zero,
                                      static_cast<double*>(args.c), args.ldc));
}

}  // namespace

absl::Status MatMulCublas(const MatMulArgs& args) { return Gemm(args, CUBLAS_DEFAULT_MATH); }

absl::Status MatMulCublasPedantic(const MatMulArgs& args) {
  return Gemm(args, CUBLAS_PEDANTIC_MATH);
}

}  // namespace stridewise
