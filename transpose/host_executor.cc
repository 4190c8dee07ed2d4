#include "transpose/host_executor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {

// An entry's flag chooses what becomes of it, so that nothing refers to a function that only nvcc
// compiles.
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)

#define TRANSPOSE_HOST(name, function, summary, teaches)
#define TRANSPOSE_CUBLAS(name, function, element_sizes, summary, teaches)

namespace executor {

#define TRANSPOSE_COPY(name, function, blocks, block, flag, summary, teaches) \
  IF_##flag(absl::Status function(const TransposeArgs& args);)
#define TRANSPOSE_KERNEL(name, function, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag(absl::Status function(const TransposeArgs& args);)
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL

}  // namespace executor

namespace {

struct Entry {
  absl::string_view name;
  absl::Status (*run)(const TransposeArgs& args);
};

constexpr Entry kEntries[] = {
#define TRANSPOSE_COPY(name, function, blocks, block, flag, summary, teaches) \
  IF_##flag({#name, executor::function}, )
#define TRANSPOSE_KERNEL(name, function, blocks, block, flag, min_cc, summary, teaches) \
  IF_##flag({#name, executor::function}, )
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef TRANSPOSE_COPY
#undef TRANSPOSE_KERNEL
};

}  // namespace

absl::StatusOr<TransposeImplementation> OnHostExecutor(
    const TransposeImplementation& implementation) {
  for (const Entry& entry : kEntries) {
    if (entry.name != implementation.name) continue;
    TransposeImplementation on_host = implementation;
    on_host.run = entry.run;
    return on_host;
  }
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

}  // namespace stridewise
