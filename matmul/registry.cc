#include "matmul/registry.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/argument_checks.h"
#include "common/status_macros.h"
#include "matmul/cpu/eigen.h"

namespace stridewise {

#define MATMUL_HOST(name, function, ...) absl::Status function(const MatMulArgs& args);
#define MATMUL_KERNEL(name, function, ...) absl::Status function(const MatMulArgs& args);
#define MATMUL_STEP(name, function, ...) absl::Status function(const MatMulArgs& args);
#define MATMUL_GENERAL(name, function, workspace, ...) \
  absl::Status function(const MatMulArgs& args);       \
  int64_t workspace(const MatMulArgs& args);
#define MATMUL_CUBLAS(name, function, ...) absl::Status function(const MatMulArgs& args);
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_HOST
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL
#undef MATMUL_CUBLAS

int64_t NoWorkspace(const MatMulArgs& /*args*/) { return 0; }

namespace {

// Device functions are not linked in where there is no toolkit to compile them.
#if STRIDEWISE_WITH_CUDA
#define DEVICE_FUNCTION(function) function
#else
#define DEVICE_FUNCTION(function) nullptr
#endif

absl::Status NotTaken(const char* argument, absl::string_view value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat(argument, " is ", value, "; allowed is ", allowed,
                                                 ", the only one that it takes"));
}

// What not every implementation takes.
absl::Status CheckForm(const MatMulImplementation& implementation, const MatMulArgs& args) {
  if (!implementation.takes_double && args.type == ElementType::kDouble) {
    return NotTaken("type", "double", "float");
  }
  if (implementation.general) return absl::OkStatus();
  if (args.transpose_a) return NotTaken("transpose_a", "true", "false");
  if (args.transpose_b) return NotTaken("transpose_b", "true", "false");
  if (args.alpha != 1) return NotTaken("alpha", absl::StrCat(args.alpha), "1");
  if (args.beta != 0) return NotTaken("beta", absl::StrCat(args.beta), "0");
  if (args.batch != 1) return NotTaken("batch", absl::StrCat(args.batch), "1");
  return absl::OkStatus();
}

// Of a batch only C must not overlap itself: A and B are only read.
absl::Status CheckBatch(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtLeast("batch", args.batch, 0));
  if (args.batch <= 1) return absl::OkStatus();
  RETURN_IF_ERROR(CheckAtLeast("stride_a", args.stride_a, 0));
  RETURN_IF_ERROR(CheckAtLeast("stride_b", args.stride_b, 0));
  return CheckAtLeast("stride_c", args.stride_c, SpanElements(args.m, args.n, args.ldc));
}

absl::Status CheckWorkspace(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtLeast("workspace_bytes", args.workspace_bytes, 0));
  if (args.workspace_bytes > 0 && args.workspace == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("workspace is null; allowed only when workspace_bytes is 0, and it is ",
                     args.workspace_bytes));
  }
  constexpr uintptr_t kAlignment = 16;
  if (reinterpret_cast<uintptr_t>(args.workspace) % kAlignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("workspace is 0x", absl::Hex(reinterpret_cast<uintptr_t>(args.workspace)),
                     "; allowed are multiples of ", kAlignment));
  }
  return absl::OkStatus();
}

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
  RETURN_IF_ERROR(CheckForm(implementation, args));
  const ConstMatrix<char> a = args.A<char>();
  const ConstMatrix<char> b = args.B<char>();
  RETURN_IF_ERROR(CheckOperand("a", a.data, a.rows, a.cols, a.ld));
  RETURN_IF_ERROR(CheckOperand("b", b.data, b.rows, b.cols, b.ld));
  RETURN_IF_ERROR(CheckOperand("c", args.c, args.m, args.n, args.ldc));
  RETURN_IF_ERROR(CheckBatch(args));
  RETURN_IF_ERROR(CheckWorkspace(args));
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
#define MATMUL_HOST(name, function, math, summary, teaches)                                      \
  {#name, Where::kHost, math, summary, teaches, Blocks::kFixed, kNoBlock, Executor::kDeviceOnly, \
   0,     false,        true, false,   nullptr, function},
#define MATMUL_KERNEL(name, function, math, blocks, block, executor, min_cc, summary, teaches) \
  {#name,   Where::kDevice,           math,   summary, teaches, Blocks::blocks,                \
   block,   Executor::executor,       min_cc, false,   true,    false,                         \
   nullptr, DEVICE_FUNCTION(function)},
#define MATMUL_STEP(name, function, block, executor, min_cc, summary, teaches)  \
  {#name,   Where::kDevice,           "fma",  summary, teaches, Blocks::kFixed, \
   block,   Executor::executor,       min_cc, false,   false,   false,          \
   nullptr, DEVICE_FUNCTION(function)},
#define MATMUL_GENERAL(name, function, workspace, executor, min_cc, summary, teaches) \
  {#name,                                                                             \
   Where::kDevice,                                                                    \
   "fma",                                                                             \
   summary,                                                                           \
   teaches,                                                                           \
   Blocks::kFixed,                                                                    \
   kNoBlock,                                                                          \
   Executor::executor,                                                                \
   min_cc,                                                                            \
   false,                                                                             \
   false,                                                                             \
   true,                                                                              \
   DEVICE_FUNCTION(workspace),                                                        \
   DEVICE_FUNCTION(function)},
#define MATMUL_CUBLAS(name, function, math, summary, teaches)                  \
  {#name,    Where::kDevice,           math, summary, teaches, Blocks::kFixed, \
   kNoBlock, Executor::kDeviceOnly,    0,    true,    true,    true,           \
   nullptr,  DEVICE_FUNCTION(function)},
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_HOST
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL
#undef MATMUL_CUBLAS
  };
  return implementations;
}

int64_t MatMulWorkspaceBytes(const MatMulImplementation& implementation, const MatMulArgs& args) {
  return implementation.workspace_bytes == nullptr ? 0 : implementation.workspace_bytes(args);
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
