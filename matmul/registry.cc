#include "matmul/registry.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "matmul/check_args.h"
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
   0,     false,        true, true,    nullptr, function},
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
  absl::Status status = CheckMatMulArgs(implementation, checked);
  if (status.ok()) status = implementation.run(checked);
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(implementation.name, ": ", status.message()));
}

}  // namespace stridewise
