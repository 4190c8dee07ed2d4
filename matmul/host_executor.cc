#include "matmul/host_executor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// An entry's flag chooses what becomes of it, so that nothing refers to a function that only nvcc
// compiles.
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)

#define MATMUL_HOST(...)
#define MATMUL_CUBLAS(...)

namespace executor {

#define MATMUL_KERNEL(name, function, math, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);)
#define MATMUL_STEP(name, function, block, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);)
#define MATMUL_GENERAL(name, function, workspace, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const MatMulArgs& args);)
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL

}  // namespace executor

namespace {

struct Entry {
  absl::string_view name;
  absl::Status (*run)(const MatMulArgs& args);
};

constexpr Entry kEntries[] = {
#define MATMUL_KERNEL(name, function, math, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function}, )
#define MATMUL_STEP(name, function, block, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function}, )
#define MATMUL_GENERAL(name, function, workspace, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function}, )
#include "matmul/kernels.inc"  // NOLINT(build/include)
#undef MATMUL_KERNEL
#undef MATMUL_STEP
#undef MATMUL_GENERAL
};

}  // namespace

absl::StatusOr<MatMulImplementation> OnHostExecutor(const MatMulImplementation& implementation) {
  for (const Entry& entry : kEntries) {
    if (entry.name != implementation.name) continue;
    MatMulImplementation on_host = implementation;
    on_host.run = entry.run;
    return on_host;
  }
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

}  // namespace stridewise
