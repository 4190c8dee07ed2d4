#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/argument_checks.h"
#include "common/status_macros.h"
#include "matmul/cpu/eigen.h"
#include "matmul/matmul.h"

namespace stridewise {

#define MATMUL_HOST(name, function, math, summary, teaches) \
  absl::Status function(const MatMulArgs& args);
#define MATMUL_KERNEL(name, function, math, blocks, block, executor, min_cc, summary, teaches) \
  absl::Status function(const MatMulArgs& args);
#define MATMUL_CUBLAS(name, function, math, summary, teaches) \
  absl::Status function(const MatMulArgs& args);
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_HOST
#undef MATMUL_KERNEL
#undef MATMUL_CUBLAS

namespace {

// Device functions are not linked in where there is no toolkit to compile them.
#if STRIDEWISE_WITH_CUDA
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

absl::Status CheckOperand(const char* name, const void* data, int64_t rows, int64_t cols,
                          int64_t ld) {
  RETURN_IF_ERROR(CheckAtLeast(absl::StrCat("ld", name), ld, cols));
  if (rows > 0 && cols > 0 && data == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is null; allowed only when it has no elements, and it is ", rows, "x", cols));
  }
  return absl::OkStatus();
}

absl::Status CheckArgs(const MatMulImplementation& implementation, const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtLeast("m", args.m, 0));
  RETURN_IF_ERROR(CheckAtLeast("n", args.n, 0));
  RETURN_IF_ERROR(CheckAtLeast("k", args.k, 0));
  RETURN_IF_ERROR(CheckOperand("a", args.a, args.m, args.k, args.lda));
  RETURN_IF_ERROR(CheckOperand("b", args.b, args.k, args.n, args.ldb));
  RETURN_IF_ERROR(CheckOperand("c", args.c, args.m, args.n, args.ldc));
  // Our kernels count the terms of a sum in 32 bits; offsets have 64.
  constexpr int64_t kMaxDepth = std::numeric_limits<int32_t>::max();
  if (implementation.where == Where::kDevice && !implementation.needs_cublas &&
      args.k > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("k is ", args.k, "; allowed is at most ", kMaxDepth));
  }
  return CheckBlock(implementation.blocks, implementation.default_block, args.block);
}

}  // namespace

int64_t ElementBytes(ElementType type) { return type == ElementType::kFloat ? 4 : 8; }

absl::string_view ElementTypeName(ElementType type) {
  return type == ElementType::kFloat ? "float" : "double";
}

double MatMulBytes(int64_t m, int64_t n, int64_t k, ElementType type) {
  const double dm = static_cast<double>(m);
  const double dn = static_cast<double>(n);
  const double dk = static_cast<double>(k);
  return (dm * dk + dk * dn + dm * dn) * static_cast<double>(ElementBytes(type));
}

double MatMulFlops(int64_t m, int64_t n, int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

absl::Span<const MatMulImplementation> MatMulImplementations() {
  static const auto& implementations = *new std::vector<MatMulImplementation>{
#define MATMUL_HOST(name, function, math, summary, teaches)                 \
  {#name,    Where::kHost,          math, summary, teaches, Blocks::kFixed, \
   kNoBlock, Executor::kDeviceOnly, 0,    false,   function},
#define MATMUL_KERNEL(name, function, math, blocks, block, executor, min_cc, summary, teaches) \
  {#name,                                                                                      \
   Where::kDevice,                                                                             \
   math,                                                                                       \
   summary,                                                                                    \
   teaches,                                                                                    \
   Blocks::blocks,                                                                             \
   block,                                                                                      \
   Executor::executor,                                                                         \
   min_cc,                                                                                     \
   false,                                                                                      \
   DEVICE_FUNCTION(function)},
#define MATMUL_CUBLAS(name, function, math, summary, teaches) \
  {#name,                                                     \
   Where::kDevice,                                            \
   math,                                                      \
   summary,                                                   \
   teaches,                                                   \
   Blocks::kFixed,                                            \
   kNoBlock,                                                  \
   Executor::kDeviceOnly,                                     \
   0,                                                         \
   true,                                                      \
   DEVICE_FUNCTION(function)},
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_HOST
#undef MATMUL_KERNEL
#undef MATMUL_CUBLAS
  };
  return implementations;
}

const MatMulImplementation* FindMatMulImplementation(absl::string_view name) {
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.name == name) return &implementation;
  }
  return nullptr;
}

absl::Status RunMatMul(const MatMulImplementation& implementation, const MatMulArgs& args) {
  if (implementation.run == nullptr) {
    return absl::UnavailableError("built without a CUDA toolkit");
  }
  MatMulArgs checked = args;
  if (args.block.x == 0 && args.block.y == 0) checked.block = implementation.default_block;
  absl::Status status = CheckArgs(implementation, checked);
  if (status.ok()) status = implementation.run(checked);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise
