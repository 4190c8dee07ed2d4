#include "bindings/c/arguments.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/element_type.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// Copies arguments of a caller whose header may be older or newer than this library. `least` is
// the size that the structure had in the first version.
template <typename Args>
absl::Status Read(const Args* given, size_t least, Args* args) {
  if (given == nullptr) return absl::InvalidArgumentError("args is null");
  const size_t size = given->struct_size;
  if (size < least) {
    return absl::InvalidArgumentError(absl::StrCat("args->struct_size is ", size,
                                                   "; allowed is the size of the structure, ",
                                                   sizeof(Args), " in this version"));
  }
  std::memset(args, 0, sizeof(Args));
  std::memcpy(args, given, std::min(size, sizeof(Args)));
  const auto* bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Args); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return absl::UnimplementedError(absl::StrCat("args has a field at byte ", i,
                                                 " that this library, version ",
                                                 stridewise_version_string(), ", does not know"));
  }
  return absl::OkStatus();
}

// Returns what a constant of the header, which counts from 0, stands for.
template <typename T, size_t kValues>
absl::StatusOr<T> ValueOf(absl::string_view field, int32_t number, const T (&values)[kValues]) {
  if (number >= 0 && number < static_cast<int32_t>(kValues)) return values[number];
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", number, "; allowed is 0 to ", kValues - 1));
}

constexpr ElementType kTypes[] = {ElementType::kFloat, ElementType::kBf16, ElementType::kFp16,
                                  ElementType::kS8,    ElementType::kInt,  ElementType::kE4m3,
                                  ElementType::kE5m2};
static_assert(STRIDEWISE_FLOAT32 == 0 && std::size(kTypes) == STRIDEWISE_FLOAT8_E5M2 + 1);
constexpr MatMulPrecision kPrecisions[] = {
    MatMulPrecision::kFp32,          MatMulPrecision::kFp32Split,  MatMulPrecision::kTf32,
    MatMulPrecision::kFp32SplitInt8, MatMulPrecision::kFp32Medium, MatMulPrecision::kBf16,
    MatMulPrecision::kFp16,          MatMulPrecision::kFp16Sums,   MatMulPrecision::kFastSums};
static_assert(STRIDEWISE_PRECISION_FP32 == 0 &&
              std::size(kPrecisions) == STRIDEWISE_PRECISION_FAST_SUMS + 1);
constexpr Activation kActivations[] = {Activation::kNone, Activation::kRelu, Activation::kGelu,
                                       Activation::kGeluErf};
static_assert(STRIDEWISE_ACTIVATION_NONE == 0 &&
              std::size(kActivations) == STRIDEWISE_ACTIVATION_GELU_ERF + 1);

// Returns the operand as it is stored, rows x cols.
template <typename Operand, typename Given>
absl::StatusOr<Operand> OperandOf(const char* type_field, const Given& given, int64_t rows,
                                  int64_t cols, MatrixLayout layout) {
  Operand operand;
  ASSIGN_OR_RETURN(operand.type, ValueOf(type_field, given.type, kTypes));
  operand.data = given.data;
  const int64_t gapless = layout == MatrixLayout::kRowMajor ? cols : rows;
  operand.ld = given.ld != 0 ? given.ld : gapless;
  operand.stride = given.stride;
  return operand;
}

absl::StatusOr<MatMulInput> InputOf(const char* type_field, const stridewise_input& given,
                                    int64_t rows, int64_t cols, MatrixLayout layout) {
  const bool transposed = given.transposed != 0;
  ASSIGN_OR_RETURN(MatMulInput input,
                   OperandOf<MatMulInput>(type_field, given, transposed ? cols : rows,
                                          transposed ? rows : cols, layout));
  input.transposed = transposed;
  return input;
}

}  // namespace

absl::StatusOr<MatMulProblem> ProblemOf(const stridewise_matmul_args* given) {
  // The first version ends with workspace_bytes.
  constexpr size_t kLeast = offsetof(stridewise_matmul_args, workspace_bytes) + sizeof(int64_t);
  stridewise_matmul_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  if (args.layout != STRIDEWISE_ROW_MAJOR && args.layout != STRIDEWISE_COLUMN_MAJOR) {
    return absl::InvalidArgumentError(absl::StrCat("layout is ", args.layout, "; allowed is ",
                                                   STRIDEWISE_ROW_MAJOR, " (row-major) and ",
                                                   STRIDEWISE_COLUMN_MAJOR, " (column-major)"));
  }
  MatMulProblem problem;
  problem.m = args.m;
  problem.n = args.n;
  problem.k = args.k;
  problem.layout =
      args.layout == STRIDEWISE_ROW_MAJOR ? MatrixLayout::kRowMajor : MatrixLayout::kColumnMajor;
  ASSIGN_OR_RETURN(problem.a, InputOf("a.type", args.a, args.m, args.k, problem.layout));
  ASSIGN_OR_RETURN(problem.b, InputOf("b.type", args.b, args.k, args.n, problem.layout));
  ASSIGN_OR_RETURN(problem.c,
                   OperandOf<MatMulOutput>("c.type", args.c, args.m, args.n, problem.layout));
  problem.alpha = args.alpha;
  problem.beta = args.beta;
  problem.batch = args.batch;
  ASSIGN_OR_RETURN(problem.precision, ValueOf("precision", args.precision, kPrecisions));
  problem.epilogue.bias = args.bias;
  ASSIGN_OR_RETURN(problem.epilogue.activation,
                   ValueOf("activation", args.activation, kActivations));
  problem.scales = {args.scale_a, args.scale_b, args.scales_per_128 != 0};
  problem.workspace = args.workspace;
  problem.workspace_bytes = args.workspace_bytes;
  return problem;
}

absl::StatusOr<PermuteProblem> ProblemOf(const stridewise_permute_args* given) {
  constexpr size_t kLeast = offsetof(stridewise_permute_args, element_bytes) + sizeof(int64_t);
  stridewise_permute_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  static_assert(STRIDEWISE_MAX_RANK == kMaxPermuteRank);
  if (args.rank < 0 || args.rank > kMaxPermuteRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank is ", args.rank, "; allowed is 0 to ", kMaxPermuteRank));
  }
  if (args.rank > 0 && (args.extents == nullptr || args.order == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat(args.extents == nullptr ? "extents" : "order",
                                                   " is null; allowed are ", args.rank, " values"));
  }
  PermuteProblem problem = {};
  problem.rank = args.rank;
  problem.element_bytes = args.element_bytes;
  problem.in = args.in;
  problem.out = args.out;
  std::copy_n(args.extents, args.rank, problem.extents.begin());
  std::copy_n(args.order, args.rank, problem.order.begin());
  for (int64_t i = 0; i < args.rank; ++i) {
    if (args.order[i] >= 0 && args.order[i] < args.rank) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("order[", i, "] is ", args.order[i], "; allowed is 0 to ", args.rank - 1));
  }
  SetGaplessStrides(&problem);
  if (args.strides_in != nullptr) {
    std::copy_n(args.strides_in, args.rank, problem.strides_in.begin());
  }
  if (args.strides_out != nullptr) {
    std::copy_n(args.strides_out, args.rank, problem.strides_out.begin());
  }
  return problem;
}

absl::StatusOr<TransposeViews> ViewsOf(const stridewise_transpose_args* given) {
  constexpr size_t kLeast = offsetof(stridewise_transpose_args, stride_out) + sizeof(int64_t);
  stridewise_transpose_args args;
  RETURN_IF_ERROR(Read(given, kLeast, &args));
  const int64_t ld_in = args.ld_in != 0 ? args.ld_in : args.cols;
  const int64_t ld_out = args.ld_out != 0 ? args.ld_out : args.rows;
  return TransposeViews{
      {args.in, args.rows, args.cols, ld_in, args.element_bytes, args.batch, args.stride_in},
      {args.out, args.cols, args.rows, ld_out, args.element_bytes, args.batch, args.stride_out}};
}

}  // namespace stridewise
