#include "transpose/host_executor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "transpose/dispatch.h"

namespace stridewise {

// An entry's flag chooses what becomes of it, so that nothing refers to a function that only nvcc
// compiles.
#define IF_kHostExecutable(...) __VA_ARGS__
#define IF_kDeviceOnly(...)

#define TRANSPOSE_HOST(...)
#define TRANSPOSE_CUBLAS(...)
#define TRANSPOSE_COPY(name, function, blocks, block, flag, ...) ENTRY(name, function, flag)
#define TRANSPOSE_KERNEL(name, function, blocks, block, flag, ...) ENTRY(name, function, flag)
#define TRANSPOSE_BATCHED(name, function, block, flag, ...) ENTRY(name, function, flag)
#define TRANSPOSE_IN_PLACE(name, function, shapes, block, flag, ...) ENTRY(name, function, flag)

namespace executor {

#define ENTRY(name, function, flag) IF_##flag(absl::Status function(const TransposeArgs& args);)
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef ENTRY

}  // namespace executor

namespace {

struct Entry {
  absl::string_view name;
  absl::Status (*run)(const TransposeArgs& args);
};

constexpr Entry kEntries[] = {
#define ENTRY(name, function, flag) IF_##flag({#name, executor::function}, )
#include "transpose/kernels.inc"  // NOLINT(build/include)
#undef ENTRY
};

}  // namespace

absl::StatusOr<TransposeImplementation> OnHostExecutor(
    const TransposeImplementation& implementation) {
  for (const Entry& entry : kEntries) {
    if (entry.name != implementation.name) continue;
    TransposeImplementation on_host = implementation;
    on_host.run = entry.run;
    on_host.is_built_in = true;
    return on_host;
  }
  return absl::UnimplementedError(
      absl::StrCat(implementation.name, " does not run on the host executor"));
}

// `auto` is no kernel, and launches through the registry: here that is this one.
absl::Status executor::TransposeAuto(const TransposeArgs& args) {
  return RunChosenTranspose(
      args,
      [](const TransposeImplementation& chosen, const TransposeArgs& chosen_args) -> absl::Status {
        ASSIGN_OR_RETURN(const TransposeImplementation on_host, OnHostExecutor(chosen));
        return RunTranspose(on_host, chosen_args);
      });
}

}  // namespace stridewise
