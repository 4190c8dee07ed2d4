#include "matmul/cublas_lt_call.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"

namespace stridewise {
namespace {

constexpr int kMostAlgorithms = 8;

// A handle of cuBLAS is one of cuBLASLt.
cublasLtHandle_t Handle(const MatMulArgs& args) {
  return reinterpret_cast<cublasLtHandle_t>(args.cublas);
}
uint32_t Alignment(const void* data) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(data) | 256;
  return static_cast<uint32_t>(address & (~address + 1));
}

}  // namespace

cudaDataType CublasTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return CUDA_R_16BF;
    case ElementType::kFp16:
      return CUDA_R_16F;
    case ElementType::kDouble:
      return CUDA_R_64F;
    case ElementType::kS8:
      return CUDA_R_8I;
    case ElementType::kInt:
      return CUDA_R_32I;
    case ElementType::kE4m3:
      return CUDA_R_8F_E4M3;
    case ElementType::kE5m2:
      return CUDA_R_8F_E5M2;
    default:
      return CUDA_R_32F;
  }
}

bool SumsInFp16(const MatMulArgs& args) {
  return args.precision == MatMulPrecision::kFp16Sums && args.c.type == ElementType::kFp16;
}

cublasComputeType_t CublasComputeTypeOf(const MatMulArgs& args) {
  if (args.a.type == ElementType::kDouble) return CUBLAS_COMPUTE_64F;
  if (args.a.type == ElementType::kS8) return CUBLAS_COMPUTE_32I;
  switch (args.precision) {
    case MatMulPrecision::kTf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case MatMulPrecision::kBf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case MatMulPrecision::kFp16:
      return CUBLAS_COMPUTE_32F_FAST_16F;
    case MatMulPrecision::kFp16Sums:
      return SumsInFp16(args) ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

cublasLtEpilogue_t CublasLtEpilogueOf(const MatMulEpilogue& epilogue) {
  const bool bias = epilogue.bias != nullptr;
  switch (epilogue.activation) {
    case Activation::kRelu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::kGeluErf:  // There is none: CublasLtCall::Create() says so.
    case Activation::kNone:
      break;
  }
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

absl::StatusOr<CublasLtCall::Layout> CublasLtCall::MakeLayout(ElementType type, int64_t rows,
                                                              int64_t cols, int64_t ld,
                                                              int64_t batch, int64_t stride) {
  cublasLtMatrixLayout_t layout;
  // A leading dimension of an operand without elements may be 0 with us, but not there.
  RETURN_IF_ERROR(CUBLAS_STATUS(
      cublasLtMatrixLayoutCreate(&layout, CublasTypeOf(type), static_cast<uint64_t>(cols),
                                 static_cast<uint64_t>(rows), std::max<int64_t>(ld, 1))));
  Layout owned(layout);
  const auto count = static_cast<int32_t>(batch);
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatrixLayoutSetAttribute(
      layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count))));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatrixLayoutSetAttribute(
      layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride))));
  return owned;
}

absl::StatusOr<CublasLtCall> CublasLtCall::Create(const MatMulArgs& args) {
  CublasLtCall call;
  const int64_t k = args.alpha == 0 ? 0 : args.k;  // Operands that do not count are not read.
  cublasLtMatmulDesc_t description;
  const bool is_own_scale =
      args.c.type == ElementType::kDouble || args.c.type == ElementType::kInt || SumsInFp16(args);
  const cudaDataType scale = is_own_scale ? CublasTypeOf(args.c.type) : CUDA_R_32F;
  RETURN_IF_ERROR(
      CUBLAS_STATUS(cublasLtMatmulDescCreate(&description, CublasComputeTypeOf(args), scale)));
  call.description_.reset(description);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
    return CUBLAS_STATUS(
        cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)));
  };
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, args.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, args.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
  if (args.precision == MatMulPrecision::kFastSums) {
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, int8_t{1}));
  }
  if (args.epilogue.activation == Activation::kGeluErf) {
    return absl::UnimplementedError("cuBLASLt has GELU in its form with tanh alone");
  }
  const cublasLtEpilogue_t epilogue = CublasLtEpilogueOf(args.epilogue);
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (args.epilogue.bias != nullptr) {
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.epilogue.bias));
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CublasTypeOf(args.c.type)));
  }
  // Of 8-bit floating-point operands; where they are null they are 1.
  if (args.scales.b != nullptr) {
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, args.scales.b));
  }
  if (args.scales.a != nullptr) {
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, args.scales.a));
  }
  const auto layout = [&](const MatMulInput& input, int64_t rows, int64_t cols) {
    return MakeLayout(input.type, input.transposed ? cols : rows, input.transposed ? rows : cols,
                      input.ld, args.batch, input.stride);
  };
  ASSIGN_OR_RETURN(call.a_, layout(args.b, k, args.n));
  ASSIGN_OR_RETURN(call.b_, layout(args.a, args.m, k));
  ASSIGN_OR_RETURN(call.c_,
                   MakeLayout(args.c.type, args.m, args.n, args.c.ld, args.batch, args.c.stride));
  return call;
}

absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> CublasLtCall::Algorithms(
    const MatMulArgs& args) const {
  cublasLtMatmulPreference_t preference;
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatmulPreferenceCreate(&preference)));
  const Preference owned(preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    return CUBLAS_STATUS(
        cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)));
  };
  RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(args.workspace_bytes)));
  // Partial sums are added in the type of the sums, not in that of C.
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                      static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_MASK &
                                            ~CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE)));
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Alignment(args.b.data)));
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Alignment(args.a.data)));
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Alignment(args.c.data)));
  RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Alignment(args.c.data)));
  std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> results;
  int count = 0;
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatmulAlgoGetHeuristic(
      Handle(args), description_.get(), a_.get(), b_.get(), c_.get(), c_.get(), preference,
      kMostAlgorithms, results.data(), &count)));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < count; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(results[i].algo);
  }
  if (algorithms.empty()) return absl::UnimplementedError("cuBLASLt has no algorithm for it");
  return algorithms;
}

absl::Status CublasLtCall::Run(const MatMulArgs& args, const cublasLtMatmulAlgo_t& algorithm,
                               void* c) const {
  const double alpha = args.alpha;
  const double beta = args.beta;
  const auto alpha_float = static_cast<float>(alpha);
  const auto beta_float = static_cast<float>(beta);
  const auto alpha_int = static_cast<int32_t>(alpha);
  const auto beta_int = static_cast<int32_t>(beta);
  const Fp16 alpha_half(alpha_float);
  const Fp16 beta_half(beta_float);
  const bool is_double = args.c.type == ElementType::kDouble;
  const bool is_int = args.c.type == ElementType::kInt;
  const void* const of_alpha = is_double          ? static_cast<const void*>(&alpha)
                               : is_int           ? static_cast<const void*>(&alpha_int)
                               : SumsInFp16(args) ? static_cast<const void*>(&alpha_half)
                                                  : &alpha_float;
  const void* const of_beta = is_double          ? static_cast<const void*>(&beta)
                              : is_int           ? static_cast<const void*>(&beta_int)
                              : SumsInFp16(args) ? static_cast<const void*>(&beta_half)
                                                 : &beta_float;
  return CUBLAS_STATUS(cublasLtMatmul(Handle(args), description_.get(), of_alpha, args.b.data,
                                      a_.get(), args.a.data, b_.get(), of_beta, c, c_.get(), c,
                                      c_.get(), &algorithm, args.workspace,
                                      static_cast<size_t>(args.workspace_bytes), args.stream));
}

}  // namespace stridewise
