#include "matmul/registry.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "matmul/check_args.h"
#include "matmul/cpu/eigen.h"
#include "matmul/device/registry_entry.h"

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

using Function = absl::Status (*)(const MatMulArgs& args);
using Workspace = int64_t (*)(const MatMulArgs& args);

// Makes the entry of a kernel in FP32 with a block of its own; makers of other kinds change what is
// different.
MatMulImplementation Kernel(const char* name, Function run, const Block& block, Executor executor,
                            int min_compute_capability, const char* summary, const char* teaches) {
  MatMulImplementation made;
  made.name = name;
  made.target = Sm(min_compute_capability);
  made.math = "fma";
  made.summary = summary;
  made.teaches = teaches;
  made.default_block = block;
  made.executor = executor;
  made.is_built_in = run != nullptr;
  made.run = run;
  return made;
}

MatMulImplementation AnyBlock(const char* name, Function run, const char* math, Blocks blocks,
                              const Block& block, Executor executor, int min_compute_capability,
                              const char* summary, const char* teaches) {
  MatMulImplementation made =
      Kernel(name, run, block, executor, min_compute_capability, summary, teaches);
  made.math = math;
  made.blocks = blocks;
  made.types = kFp32AndFp64;
  return made;
}

MatMulImplementation General(const char* name, Function run, Workspace workspace_bytes,
                             Executor executor, int min_compute_capability, const char* summary,
                             const char* teaches) {
  MatMulImplementation made =
      Kernel(name, run, kNoBlock, executor, min_compute_capability, summary, teaches);
  made.general = true;
  made.workspace_bytes = workspace_bytes;
  return made;
}

MatMulImplementation Library(const char* name, Function run, const char* math, const char* summary,
                             const char* teaches) {
  MatMulImplementation made =
      Kernel(name, run, kNoBlock, Executor::kDeviceOnly, 0, summary, teaches);
  made.math = math;
  made.needs_cublas = true;
  made.types = kFp32AndFp64;
  made.general = true;
  return made;
}

MatMulImplementation OnHost(const char* name, Function run, const std::string& math,
                            const char* summary, const char* teaches) {
  MatMulImplementation made = Library(name, run, "", summary, teaches);
  made.target = kHostCpu;
  made.math = math;
  made.needs_cublas = false;
  return made;
}

}  // namespace

double MatMulBytes(int64_t m, int64_t n, int64_t k, const MatMulTypes& types) {
  const auto bytes = [](int64_t rows, int64_t cols, ElementType type) {
    return static_cast<double>(rows) * static_cast<double>(cols) *
           static_cast<double>(ElementBytes(type));
  };
  return bytes(m, k, types.a) + bytes(k, n, types.b) + bytes(m, n, types.c);
}

double MatMulFlops(int64_t m, int64_t n, int64_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

absl::Span<const MatMulImplementation> MatMulImplementations() {
  static const auto& implementations = *new std::vector<MatMulImplementation>{
#define MATMUL_HOST(name, function, math, summary, teaches) \
  OnHost(#name, function, math, summary, teaches),
#define MATMUL_KERNEL(name, function, math, blocks, block, executor, min_cc, summary, teaches) \
  AnyBlock(#name, DEVICE_FUNCTION(function), math, Blocks::blocks, block, Executor::executor,  \
           min_cc, summary, teaches),
#define MATMUL_STEP(name, function, block, executor, min_cc, summary, teaches) \
  Kernel(#name, DEVICE_FUNCTION(function), block, Executor::executor, min_cc, summary, teaches),
#define MATMUL_GENERAL(name, function, workspace, executor, min_cc, summary, teaches)       \
  General(#name, DEVICE_FUNCTION(function), DEVICE_FUNCTION(workspace), Executor::executor, \
          min_cc, summary, teaches),
#define MATMUL_CUBLAS(name, function, math, summary, teaches) \
  Library(#name, DEVICE_FUNCTION(function), math, summary, teaches),
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

const MatMulTypes* FindTypes(const MatMulImplementation& implementation, const MatMulArgs& args) {
  for (const MatMulTypes& types : implementation.types) {
    if (types.a == args.a.type && types.b == args.b.type && types.c == args.c.type) return &types;
  }
  return nullptr;
}

bool TakesType(const MatMulImplementation& implementation, ElementType type) {
  MatMulArgs args;
  args.a.type = args.b.type = args.c.type = type;
  return FindTypes(implementation, args) != nullptr;
}

const MatMulImplementation* FindMatMulImplementation(absl::string_view name) {
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.name == name) return &implementation;
  }
  return nullptr;
}

const MatMulImplementation& RegistryEntry(absl::string_view name) {
  return *FindMatMulImplementation(name);
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
